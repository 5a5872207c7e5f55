"""SE_6(3): the series of Gamma, and the closed-form update against matrix exponentials."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator.invariant.state import gammas, move_by
from robots.rotations import skew
from tests.estimator.invariant_case import (
    copy,
    disturbed,
    error_between,
    random_case,
    random_error,
)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 0.0999, 0.1001, 1.0, 3.0])
def test_gammas_are_their_series(angle: float) -> None:
    phi = angle * np.array([0.6, -0.48, 0.64])
    powers = [np.eye(3)]
    for _ in range(40):
        powers.append(powers[-1] @ skew(phi))
    for m, gamma in enumerate(gammas(phi)):
        series = sum(power / math.factorial(n + m) for n, power in enumerate(powers))
        np.testing.assert_allclose(gamma, series, atol=2e-12)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.floats(1e-6, 1.0))
def test_moving_by_xi_is_the_matrix_exponential_from_the_left(seed: int, size: float) -> None:
    truth, error = random_case(seed).truth, random_error(seed, size)
    moved, wanted = copy(truth), disturbed(truth, error)
    move_by(error[:21], moved.rotation, moved.vectors)
    np.testing.assert_allclose(moved.rotation, wanted.rotation, atol=1e-11)
    np.testing.assert_allclose(moved.vectors, wanted.vectors, atol=1e-11)
    np.testing.assert_allclose(error_between(moved, truth)[:21], error[:21], atol=1e-8)
