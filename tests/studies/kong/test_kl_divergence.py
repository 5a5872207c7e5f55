import numpy as np
import pytest

from studies.kong.table_3_1 import kl_divergence


def random_covariance(rng, n):
    A = rng.standard_normal((n, n + 2))
    return A @ A.T


@pytest.mark.parametrize("n", [1, 2, 6])
def test_matches_an_expectation_of_log_densities(n):
    """KL = E_0[ln p_0 - ln p_1], with E_0[x' S^-1 x] by eigenvalues."""
    rng = np.random.default_rng(n)
    Sigma_0, Sigma_1 = random_covariance(rng, n), random_covariance(rng, n)
    ratios = np.linalg.eigvals(np.linalg.solve(Sigma_1, Sigma_0)).real
    expected = 0.5 * np.sum(ratios - 1.0 - np.log(ratios))
    assert kl_divergence(Sigma_0, Sigma_1) == pytest.approx(expected, rel=1e-9)


def test_one_dimension_by_hand():
    assert kl_divergence(np.array([[4.0]]), np.array([[1.0]])) == pytest.approx(1.5 - np.log(2.0))


@pytest.mark.parametrize("seed", range(5))
def test_is_zero_only_where_equal(seed):
    rng = np.random.default_rng(seed)
    Sigma_0, Sigma_1 = random_covariance(rng, 4), random_covariance(rng, 4)
    assert kl_divergence(Sigma_0, Sigma_0) < 1e-12
    assert kl_divergence(Sigma_0, Sigma_1) > 1e-3


def test_does_not_depend_on_the_units():
    rng = np.random.default_rng(0)
    Sigma_0, Sigma_1, T = (random_covariance(rng, 3) for _ in range(3))
    changed = kl_divergence(T @ Sigma_0 @ T.T, T @ Sigma_1 @ T.T)
    assert changed == pytest.approx(kl_divergence(Sigma_0, Sigma_1), rel=1e-8)


def test_is_not_symmetric():
    narrow, wide = np.eye(2), 9.0 * np.eye(2)
    assert kl_divergence(wide, narrow) > 2.0 * kl_divergence(narrow, wide)


def test_is_infinite_where_a_covariance_is_singular():
    flat = np.diag([1.0, 0.0])
    assert kl_divergence(np.eye(2), flat) == np.inf
    assert kl_divergence(flat, np.eye(2)) == np.inf


def test_sizes_must_agree():
    with pytest.raises(ValueError, match="of one n"):
        kl_divergence(np.eye(2), np.eye(3))
