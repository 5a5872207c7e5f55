"""Small matrices in kernels against numpy, and differences against derivatives that were given."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid.compiled.tables import ABSENT, COMPILED
from hybrid.filters.kernels import functions
from hybrid.filters.kernels.matrices import cholesky, product, sandwich, solve, times
from hybrid.filters.model import FilterModel, Measurement, ProcessNoise
from hybrid.filters.tables import ModelTables, model_tables
from studies.kong.systems.pendulum import pendulum

SIZES = st.integers(1, 7)
SEEDS = st.integers(0, 10_000)


@given(m=SIZES, n=SIZES, seed=SEEDS)
def test_products_and_sandwiches(m, n, seed):
    rng = np.random.default_rng(seed)
    A, B, x = rng.normal(size=(m, n)), rng.normal(size=(n, n)), rng.normal(size=n)
    Sigma = B @ B.T
    np.testing.assert_allclose(product(A, B), A @ B, atol=1e-12)
    np.testing.assert_allclose(times(A, x), A @ x, atol=1e-12)
    after = sandwich(A, Sigma)
    np.testing.assert_allclose(after, A @ Sigma @ A.T, atol=1e-11)
    np.testing.assert_array_equal(after, after.T)


@given(n=SIZES, r=SIZES, seed=SEEDS)
def test_cholesky_and_solve(n, r, seed):
    rng = np.random.default_rng(seed)
    B, X = rng.normal(size=(n, n)), rng.normal(size=(n, r))
    S = B @ B.T + 0.1 * np.eye(n)
    L, definite = cholesky(S)
    assert definite
    np.testing.assert_allclose(L, np.linalg.cholesky(S), atol=1e-11)
    np.testing.assert_allclose(solve(L, S @ X), X, atol=1e-8)


@pytest.mark.parametrize("bad", [-1.0, 0.0, np.nan, np.inf])
def test_cholesky_says_what_is_not_definite(bad):
    S = np.eye(3)
    S[1, 1] = bad
    assert not cholesky(S)[1]


def test_differences_are_the_derivatives():
    """Of a system whose derivatives are given, with the tables told that they are not."""
    system = pendulum()
    h = Measurement(lambda t, x, u: np.array([np.sin(x[0]) * x[1]]), np.eye(1),
                    lambda t, x, u: np.array([[np.cos(x[0]) * x[1], np.sin(x[0])]]))  # fmt: skip
    noise = ProcessNoise(np.eye(2))
    model = FilterModel(system, dict.fromkeys(system.modes, noise), dict.fromkeys(system.modes, h))
    base, own, known = model_tables(model, native_code=True)
    slots = np.full_like(own.slots, ABSENT)
    slots[0] = COMPILED  # h itself
    bare = ModelTables.of(base, own._replace(slots=slots)).tables
    x, u = np.array([0.4, -1.3]), np.zeros(0)
    for find in (
        functions.guard_gradient, functions.reset_jacobian, functions.measurement_jacobian
    ):  # fmt: skip
        np.testing.assert_allclose(
            find(bare, 0, 0.3, x, u), find(known, 0, 0.3, x, u), atol=1e-9
        )
