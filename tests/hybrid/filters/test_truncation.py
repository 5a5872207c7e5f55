"""Moments of a Gaussian cut by a plane: against integrals, and laws of the two sides."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad
from scipy.stats import norm

from hybrid.filters.kernels.truncation import sides, truncated_normal

NUMBERS = st.floats(-2.0, 2.0)


class Side(NamedTuple):
    probability: float
    mean: np.ndarray  # from the whole's mean
    Sigma: np.ndarray


def split(g, D, Sigma):
    over, under = sides(g, D, Sigma)
    return Side(*over), Side(*under)


@pytest.mark.parametrize("a", [-40.0, -6.0, -1.0, 0.0, 0.3, 2.0, 6.0])
def test_a_truncated_normal_has_the_moments_of_its_integrals(a):
    low = max(a, -12.0)
    p, first, second = (quad(lambda z, k=k: z**k * norm.pdf(z), low, 14.0)[0] for k in range(3))
    probability, mean, variance = truncated_normal(a)
    assert probability == pytest.approx(p, rel=1e-7)
    assert mean == pytest.approx(first / p, rel=1e-7, abs=1e-12)
    assert variance == pytest.approx(second / p - (first / p) ** 2, rel=1e-5)


def test_far_tails_are_finite():
    for a in (20.0, 37.0, 50.0, 1e3):
        probability, mean, variance = truncated_normal(a)
        assert 0.0 <= probability < 1e-80 and a <= mean < a + 0.1 and 0.0 <= variance < 0.01


@given(arrays(float, (3, 3), elements=NUMBERS), arrays(float, 3, elements=NUMBERS), NUMBERS)
def test_both_sides_together_are_the_whole(root, D, g):
    Sigma = root @ root.T
    over, under = split(g, D, Sigma)
    p, q = over.probability, under.probability
    assert p + q == pytest.approx(1.0)
    np.testing.assert_allclose(p * over.mean + q * under.mean, 0.0, atol=1e-9)
    whole = sum(s.probability * (s.Sigma + np.outer(s.mean, s.mean)) for s in (over, under))
    np.testing.assert_allclose(whole, Sigma, atol=1e-8)
    for side in (over, under):
        np.testing.assert_array_equal(side.Sigma, side.Sigma.T)
        assert np.linalg.eigvalsh(side.Sigma).min() > -1e-9
        assert np.linalg.eigvalsh(Sigma - side.Sigma).min() > -1e-9


def test_a_cut_is_that_of_samples():
    Sigma, D, g = np.array([[1.0, 0.6], [0.6, 2.0]]), np.array([1.0, -0.5]), 0.4
    x = np.random.default_rng(0).multivariate_normal(np.zeros(2), Sigma, 200_000)
    behind = g + x @ D < 0.0
    for side, samples in zip(split(g, D, Sigma), (x[~behind], x[behind]), strict=True):
        assert side.probability == pytest.approx(len(samples) / len(x), abs=0.005)
        np.testing.assert_allclose(side.mean, samples.mean(axis=0), atol=0.01)
        np.testing.assert_allclose(side.Sigma, np.cov(samples.T), atol=0.02)


def test_without_spread_along_the_plane_nothing_is_cut():
    over, under = split(0.1, np.array([1.0, 0.0]), np.diag([0.0, 1.0]))
    assert (over.probability, under.probability) == (1.0, 0.0)
    np.testing.assert_array_equal(over.Sigma, np.diag([0.0, 1.0]))
