"""A hill whose derivatives are not those of its height is refused."""

import re
from typing import Any

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


def test_small_hills_far_from_the_origin_and_level_ground_pass():
    far = (5e5, 4e6)
    Hill("far", lambda x, y: bump(x - far[0], y - far[1]), (5e5 - 3, 5e5 + 3), (4e6 - 2, 4e6 + 2))
    Hill("level", lambda x, y: (7.0, 0.0, 0.0, 0.0, 0.0, 0.0), SQUARE, SQUARE)
    lists: Any = [-2, 2], [0, 1]  # which have no hash
    assert hash(Hill("lists", bump, *lists)) == hash(Hill("lists", bump, SQUARE, (0.0, 1.0)))


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


def test_the_true_slope_is_told():
    with pytest.raises(ValueError, match=r"h_y is -2 at \(.*\), where differences of h give 2$"):
        Hill("slope", lambda x, y: (2.0 * y, 0.0, -2.0, 0.0, 0.0, 0.0), SQUARE, SQUARE)


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


@pytest.mark.parametrize("bounds", [(0,), (0, 1, 2), "ab", (0, "a"), None])
def test_bounds_that_are_no_two_numbers(bounds):
    with pytest.raises(ValueError, match=r"hill odd: y_bounds .*: give \(lowest, highest\)"):
        Hill("odd", bump, SQUARE, bounds)


@pytest.mark.parametrize("bounds", [(1.0, 1.0), (1.0, 0.0), (np.nan, 1.0), (0.0, np.inf)])
def test_bounds_that_hold_no_map(bounds):
    with pytest.raises(ValueError, match=r"hill odd: x_bounds .* hold no map"):
        Hill("odd", bump, bounds, SQUARE)
