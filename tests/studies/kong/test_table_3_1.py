"""Table 3.1 with few particles, the divergence (3.161), and Floquet multipliers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import approx

from saltus.common.errors import BadRequest
from studies.kong import floquet
from studies.kong.table_3_1 import CASES, ellipse, experiment, kl_divergence, run
from studies.study import StudyOptions

# ruff: noqa: N806 (the letters are the thesis's)


def random_covariance(rng, n):
    A = rng.standard_normal((n, n + 2))
    return A @ A.T


@pytest.mark.parametrize("n", [1, 2, 6])
def test_the_divergence_is_an_expectation_of_log_densities_whatever_the_units(n):
    """KL = E_0[ln p_0 - ln p_1], with E_0[x' S^-1 x] by eigenvalues."""
    rng = np.random.default_rng(n)
    Sigma_0, Sigma_1, T = (random_covariance(rng, n) for _ in range(3))
    ratios = np.linalg.eigvals(np.linalg.solve(Sigma_1, Sigma_0)).real
    expected = 0.5 * np.sum(ratios - 1.0 - np.log(ratios))
    assert kl_divergence(Sigma_0, Sigma_1) == approx(expected, rel=1e-9)
    changed = kl_divergence(T @ Sigma_0 @ T.T, T @ Sigma_1 @ T.T)
    assert changed == approx(expected, rel=1e-7)
    assert kl_divergence(Sigma_0, Sigma_0) < 1e-12
    assert kl_divergence(Sigma_0, np.zeros((n, n))) == np.inf


def test_saltation_predicts_better_on_every_system():
    result = run(StudyOptions(trials=100, seed=3))
    assert len(result.rows) == 8 and len(result.figures) == 4
    for row in result.rows:
        assert 0.0 <= row["kl_saltation"] < 0.1 * row["kl_reset"] and row["lost"] == 0
    with pytest.raises(BadRequest, match="or more"):
        run(StudyOptions(trials=3))


def test_prediction_is_exact_where_everything_is_linear():
    """Constant flow: neither level nor particles matter, and D_x R misses by a closed form."""
    one = experiment(CASES[0], 0.1, 50)
    for predicted in (one.Sigma_saltation, one.Sigma_unscented):
        assert_allclose(predicted, one.Sigma_actual, rtol=1e-9)
    assert_allclose(one.Sigma_reset, one.Sigma_initial, rtol=1e-12)
    shear = np.array([[1.0, 0.0], [2.0, 1.0]])  # of determinant one
    sheared = shear @ one.Sigma_initial @ shear.T
    expected = 0.5 * (np.trace(np.linalg.solve(one.Sigma_initial, sheared)) - 2.0)
    found = kl_divergence(one.Sigma_actual, one.Sigma_reset)
    assert found == approx(expected, rel=1e-9)


@pytest.mark.parametrize("case", CASES[1:], ids=lambda case: case.name)
def test_the_prediction_improves_as_the_particles_close_up(case):
    """The divergence of a first-order map falls with the variance, and so with its square."""
    low = case.variances[0]
    wide, close = (experiment(case, variance, 60) for variance in (low, low / 10.0))
    wide, close = (kl_divergence(one.Sigma_actual, one.Sigma_saltation) for one in (wide, close))
    assert 0.0 < close < 0.2 * wide


def test_an_ellipse_holds_its_share_of_a_gaussian():
    covariance = np.array([[2.0, 0.6], [0.6, 0.5]])
    curve = ellipse(np.array([1.0, -1.0]), covariance) - [1.0, -1.0]
    distances = np.sum(curve * np.linalg.solve(covariance, curve.T).T, axis=1)
    assert_allclose(distances, -2.0 * np.log(0.05), rtol=1e-4)


def test_multipliers_are_those_of_the_poincare_maps():
    assert all(each.met for each in floquet.run(StudyOptions()).criteria)
