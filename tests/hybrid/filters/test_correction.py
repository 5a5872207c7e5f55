"""One measurement's update: Joseph's form against (4.11), likelihoods against scipy."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from hybrid.compiled.limits import OK
from hybrid.filters.interface import NO_GAIN, RESULT_NOT_FINITE
from hybrid.filters.kernels.kalman import Gaussian, update
from hybrid.filters.model import FilterModel, Measurement, ProcessNoise
from hybrid.filters.tables import model_tables
from hybrid.systems import Mode, System


class Correction(NamedTuple):
    step: np.ndarray
    Sigma: np.ndarray
    innovation: tuple


def correction(Sigma, C, V, residual):
    """The kernel's update of a mean of zeros by y = C x + v; None where y is not used."""
    k, p = len(Sigma), len(V)
    sound = V if np.isfinite(V).all() else np.eye(p)
    model = FilterModel(
        System({0: Mode("only", k, 0, lambda t, x, u: 0.0 * x)}, ()),
        {0: ProcessNoise(np.zeros((k, k)))},
        {0: Measurement(lambda t, x, u: C @ x, sound, lambda t, x, u: C)},
    )
    known = model_tables(model)
    known.own.noise.V[0, :p, :p] = V
    result, nu = update(known.tables, Gaussian(0, 0.0, np.zeros(k), Sigma), np.zeros(0), residual)
    if result.code != OK:
        assert result.code in (NO_GAIN, RESULT_NOT_FINITE)
        return None
    return Correction(result.g.x, result.g.Sigma, nu)


def covariance(rng, n):
    A = rng.standard_normal((n, n + 2))
    return A @ A.T


@given(seed=st.integers(0, 10_000), k=st.integers(1, 6), p=st.integers(1, 4))
def test_is_the_textbook_update_on_good_numbers(seed, k, p):
    rng = np.random.default_rng(seed)
    Sigma, V, C, r = (
        covariance(rng, k),
        covariance(rng, p),
        rng.normal(size=(p, k)),
        rng.normal(size=p),
    )
    found = correction(Sigma, C, V, r)
    S = C @ Sigma @ C.T + V
    K = Sigma @ C.T @ np.linalg.inv(S)
    np.testing.assert_allclose(found.step, K @ r, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(found.Sigma, Sigma - K @ C @ Sigma, rtol=1e-7, atol=1e-7)
    assert (found.Sigma == found.Sigma.T).all()
    likelihood = multivariate_normal(np.zeros(p), S).logpdf(r)
    assert found.innovation.log_likelihood == pytest.approx(likelihood, rel=1e-7, abs=1e-7)
    assert found.innovation.squared == pytest.approx(r @ np.linalg.solve(S, r), rel=1e-6)


def test_stays_positive_where_the_short_form_does_not():
    Sigma, C, V = np.array([[1e8, 1e4], [1e4, 1.0 + 1e-6]]), np.eye(2), 1e-9 * np.eye(2)
    K = Sigma @ C.T @ np.linalg.inv(C @ Sigma @ C.T + V)
    assert np.linalg.eigvalsh(Sigma - K @ C @ Sigma)[0] < -1e-12
    assert np.linalg.eigvalsh(correction(Sigma, C, V, np.zeros(2)).Sigma)[0] > -1e-24


def test_an_exact_measurement_leaves_no_doubt_of_what_it_measures():
    found = correction(np.diag([2.0, 3.0]), np.array([[1.0, 0.0]]), np.zeros((1, 1)), np.ones(1))
    np.testing.assert_allclose(found.Sigma, np.diag([0.0, 3.0]), atol=1e-15)
    np.testing.assert_allclose(found.step, [1.0, 0.0])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_none_where_something_is_not_finite(bad):
    good = np.eye(2)
    assert correction(good, good, good, np.array([bad, 0.0])) is None
    assert correction(np.diag([bad, 1.0]), good, good, np.zeros(2)) is None
    assert correction(good, good, np.diag([bad, 1.0]), np.zeros(2)) is None


def test_none_where_nothing_is_uncertain():
    nothing = np.zeros((1, 1))
    assert correction(nothing, np.eye(1), nothing, np.zeros(1)) is None
