"""A hill whose derivatives are not those of its height is refused."""

import re

import numpy as np
import pytest

from saltation.convergent.hill import Hill, sine_hill

SQUARE = (-2.0, 2.0)
NAMES = ["h_x", "h_y", "h_xx", "h_xy", "h_yy"]


@pytest.mark.parametrize("factor", [-1.0, 0.0, 1.01, 2.0])
@pytest.mark.parametrize("entry", range(5))
def test_a_wrong_derivative_is_named(entry, factor):
    def wrong(x, y):
        six = list(sine_hill(x, y))
        six[1 + entry] *= factor
        return tuple(six)

    with pytest.raises(ValueError, match=rf"hill wrong: {NAMES[entry]} is .* differences of h"):
        Hill("wrong", wrong, SQUARE, (0.0, 2.5))


@pytest.mark.parametrize(
    "function, said",
    [
        (lambda x, y: (x, 1.0), "must give six numbers, not (0."),
        (lambda x, y: None, "must give six numbers, not None"),
        (lambda x, y: (np.log(x),) * 6, "must give six numbers, not (np.float64(nan)"),
        (lambda x, y: (x, "1", 0, 0, 0, [0]), "must give six numbers"),
        (lambda x, y: 1 / 0, "raised ZeroDivisionError('division by zero')"),
    ],
)
def test_what_gives_no_six_numbers_is_refused(function, said):
    with pytest.raises(ValueError, match=r"^hill odd: derivatives\(.*" + re.escape(said)):
        Hill("odd", function, SQUARE, SQUARE)
