"""Moments of a Gaussian cut by a plane: laws of the two sides, and far tails."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx

from saltation.filters.kernels.truncation import sides

NUMBERS = st.floats(-2.0, 2.0)


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
