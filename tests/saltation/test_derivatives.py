"""Derivatives that are found: exact by complex step, and differences where that would be wrong."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from saltation.derivatives import jacobian
from saltation.systems import Derivative

POINT = np.array([0.7, -0.3, 0.4])


def smooth(x):
    return np.array([np.sin(x[0]) * x[1], np.exp(x[2]) / (1.0 + x[0] ** 2)])


def smooth_jacobian(x):
    s, e = 1.0 + x[0] ** 2, np.exp(x[2])
    return np.array([[np.cos(x[0]) * x[1], np.sin(x[0]), 0.0], [-2 * x[0] * e / s**2, 0.0, e / s]])


@given(st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3))
def test_a_smooth_function_is_exact_to_rounding(values):
    x = np.array(values)
    assert_allclose(jacobian(smooth, x), smooth_jacobian(x), rtol=1e-13, atol=1e-13)


d = POINT[:2] - np.array([0.2, 0.5])


@pytest.mark.parametrize(
    "function, expected",
    [
        (lambda x: np.array([abs(x[1]), x[0] ** 2]), [[0, -1, 0], [2 * 0.7, 0, 0]]),
        (lambda x: np.linalg.norm(x[:2] - np.array([0.2, 0.5])), [*(d / np.linalg.norm(d)), 0]),
        # Their derivative along (1, 1, 1) is zero, right or wrong.
        (lambda x: np.array([abs(x[1] - x[0]), x[2]]), [[1, -1, 0], [0, 0, 1]]),
        (lambda x: np.array([np.abs(x[1] - x[2]) * x[0], x[0]]), [[0.7, -0.7, 0.7], [1, 0, 0]]),
        (lambda x: np.array([max(x[0], x[1]), min(x[0], x[1])]), [[1, 0, 0], [0, 1, 0]]),
        (lambda x: np.array([x[0].real, x[1] * 1j * -1j]).real, [[1, 0, 0], [0, 1, 0]]),
    ],
)
def test_functions_that_drop_the_imaginary_part_are_detected(function, expected):
    assert_allclose(jacobian(function, POINT), expected, atol=1e-9)


def test_what_is_not_finite_gives_nan():
    assert np.isnan(jacobian(lambda x: x * np.nan, POINT)).all()


def test_by_time_state_and_input():
    def function(t, x, u):
        return np.array([t**2 * x[0], u[0] * x[1] + t])

    t, x, u = 1.5, np.array([0.3, 0.8]), np.array([2.0])
    by_time = Derivative(function, "time")(t, x, u)
    assert_allclose(by_time, [2 * t * x[0], 1.0], rtol=1e-14)
    by_state = Derivative(function, "state")(t, x, u)
    assert_allclose(by_state, [[t**2, 0.0], [0.0, 2.0]], rtol=1e-14)
    by_input = Derivative(function, "input")(t, x, u)
    assert_allclose(by_input, [[0.0], [0.8]], rtol=1e-14)
    assert np.shape(Derivative(lambda t, x, u: np.sin(t) * x[0], "time")(t, x, u)) == ()
