"""s >= lambda_max in two smooth ways, against numpy's eigenvalues and vectors."""

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.convergent.largest_eigenvalue import (
    cholesky_constraints,
    cone_constraints,
)

SIZES = (1, 2, 3, 4)
SEEDS = st.integers(0, 2**31)


def expressions(n):
    F, s, L = ca.SX.sym("F", n, n), ca.SX.sym("s"), ca.SX.sym("L", n * (n + 1) // 2)
    cone = cone_constraints(F, s)
    return {
        "cone": ca.Function("cone", [F, s], [cone, ca.jacobian(cone, F), ca.jacobian(cone, s)]),
        "cholesky": ca.Function("cholesky", [F, s, L], [cholesky_constraints(F, s, L)]),
    }


MADE = {n: expressions(n) for n in SIZES}


def symmetric(rng, n):
    F = rng.normal(size=(n, n))
    return F + F.T


@given(seed=SEEDS, n=st.sampled_from(SIZES), above=st.floats(-3.0, 3.0))
def test_the_cone_is_met_exactly_above_the_largest_eigenvalue(seed, n, above):
    F = symmetric(np.random.default_rng(seed), n)
    values = np.linalg.eigvalsh(F)
    c = np.array(MADE[n]["cone"](F, values[-1] + above)[0]).ravel()
    np.testing.assert_allclose(c, np.poly(values - values[-1] - above)[1:], atol=1e-8)
    if abs(above) > 1e-3:
        assert np.all(c >= 0.0) == (above > 0.0)


@given(seed=SEEDS, n=st.sampled_from(SIZES))
def test_the_cones_edge_moves_as_a_simple_eigenvalue_does(seed, n):
    """ds/dF along det(s I - F) = 0 is w w^T: a solver sees the true gradient."""
    F = symmetric(np.random.default_rng(seed), n)
    values, vectors = np.linalg.eigh(F)
    w = vectors[:, -1]
    _, by_F, by_s = (np.array(part) for part in MADE[n]["cone"](F, values[-1]))
    scale = by_s[-1, 0]  # the product of the gaps
    moved = -by_F[-1].reshape(n, n, order="F")
    np.testing.assert_allclose(0.5 * (moved + moved.T), scale * np.outer(w, w), atol=1e-8)
    assert scale == pytest.approx(np.prod(values[-1] - values[:-1]), abs=1e-8)


@given(seed=SEEDS, n=st.sampled_from(SIZES), above=st.floats(0.01, 3.0))
def test_a_cholesky_factor_exists_above_the_largest_eigenvalue(seed, n, above):
    F = symmetric(np.random.default_rng(seed), n)
    s = np.linalg.eigvalsh(F)[-1] + above
    L = np.linalg.cholesky(s * np.eye(n) - F)
    columns = [L[i, j] for j in range(n) for i in range(j, n)]
    np.testing.assert_allclose(MADE[n]["cholesky"](F, s, columns), 0.0, atol=1e-12)
    columns[-1] += 0.1
    assert np.abs(MADE[n]["cholesky"](F, s, columns)).max() > 1e-3
