"""Moments of a Gaussian cut by a plane: laws of the two sides, and far tails."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx

from saltation.filters.kernels.truncation import sides, truncated_normal

NUMBERS = st.floats(-2.0, 2.0)


def test_far_tails_are_finite():
    for a in (20.0, 37.0, 50.0, 1e3):
        probability, mean, variance = truncated_normal(a)
        assert 0.0 <= probability < 1e-80 and a <= mean < a + 0.1 and 0.0 <= variance < 0.01


@given(arrays(float, (3, 3), elements=NUMBERS), arrays(float, 3, elements=NUMBERS), NUMBERS)
def test_both_sides_together_are_the_whole(root, D, g):
    Sigma = root @ root.T
    parts = sides(g, D, Sigma)  # probability, mean from the whole's, covariance
    assert sum(p for p, _, _ in parts) == approx(1.0)
    assert_allclose(sum(p * mean for p, mean, _ in parts), 0.0, atol=1e-9)
    whole = sum(p * (S + np.outer(mean, mean)) for p, mean, S in parts)
    assert_allclose(whole, Sigma, atol=1e-8)
    for _, _, S in parts:
        assert_array_equal(S, S.T)
        assert np.linalg.eigvalsh(S).min() > -1e-9
        assert np.linalg.eigvalsh(Sigma - S).min() > -1e-9


def test_without_spread_along_the_plane_nothing_is_cut():
    over, under = sides(0.1, np.array([1.0, 0.0]), np.diag([0.0, 1.0]))
    assert (over[0], under[0]) == (1.0, 0.0)
    assert_array_equal(over[2], np.diag([0.0, 1.0]))
