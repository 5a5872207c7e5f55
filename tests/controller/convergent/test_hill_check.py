"""A hill whose derivatives are not those of its height is refused."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.convergent.hill import Hill, sine_hill

SQUARE = (-2.0, 2.0)
NAMES = ("h_x", "h_y", "h_xx", "h_xy", "h_yy")


def bump(x, y):
    e = np.exp(-0.5 * (x * x + y * y))
    return e, -x * e, -y * e, (x * x - 1.0) * e, x * y * e, (y * y - 1.0) * e


@given(
    st.tuples(*(st.floats(-3.0, 3.0) for _ in range(6))),
    st.floats(-3.0, 6.0),  # decimal logarithm of the map's size
    st.floats(-1e6, 1e6),
)
def test_a_true_hill_passes_on_any_map(k, size, offset):
    """Height as a form of third order; its size and a large height do not matter."""
    side = 10.0**size

    def form(x, y):
        x, y = x / side, y / side
        h = k[0] * x + k[1] * y + k[2] * x * x + k[3] * x * y + k[4] * y * y + k[5] * x * x * y
        h_x = k[0] + 2.0 * k[2] * x + k[3] * y + 2.0 * k[5] * x * y
        h_y = k[1] + k[3] * x + 2.0 * k[4] * y + k[5] * x * x
        second = (2.0 * k[2] + 2.0 * k[5] * y, k[3] + 2.0 * k[5] * x, 2.0 * k[4])
        return h + offset, h_x / side, h_y / side, *(one / side**2 for one in second)

    assert Hill("form", form, (-side, side), (0.0, side)).x_bounds == (-side, side)


@pytest.mark.parametrize("factor", [-1.0, 0.0, 1.01, 2.0])
@pytest.mark.parametrize("entry", range(5))
@pytest.mark.parametrize("true", [sine_hill, bump])
def test_a_wrong_derivative_is_named(true, entry, factor):
    def wrong(x, y):
        six = list(true(x, y))
        six[1 + entry] *= factor
        return tuple(six)

    with pytest.raises(ValueError, match=rf"hill wrong: {NAMES[entry]} is .* differences of h"):
        Hill("wrong", wrong, SQUARE, (0.0, 2.5))


@pytest.mark.parametrize(
    ("function", "said"),
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
