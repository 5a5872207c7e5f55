import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from pytest import approx

from studies.seghete_murphey.systems.momentum_maps import momentum_map

SEEDS = st.integers(0, 2**32 - 1)
RESTITUTIONS = st.floats(0.0, 1.0)


def commutator(M, u, v, e):
    """Zero in (12)."""
    at_u, at_v = momentum_map(M, u, e), momentum_map(M, v, e)
    return at_u @ at_v - at_v @ at_u


def drawn(seed, n=5, m=2):
    """Inertia (n, n), normals (m, n) of any length and a momentum (n,)."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    scale = np.exp(rng.normal(size=(m, 1)))
    return A @ A.T + 0.5 * np.eye(n), scale * rng.normal(size=(m, n)), rng.normal(size=n)


def inner(M, a, b):
    return a @ np.linalg.solve(M, b)


@settings(max_examples=40, deadline=None)
@given(SEEDS, RESTITUTIONS)
def test_a_map_reverses_the_normal_part_and_loses_the_energy_of_its_derivation(seed, e):
    M, (u, _), p = drawn(seed)
    after = p @ momentum_map(M, u, e)
    assert inner(M, after, u) == approx(-np.sqrt(e) * inner(M, p, u), abs=1e-9)
    K_perp = inner(M, p, u) ** 2 / (2.0 * inner(M, u, u))
    lost = 0.5 * (inner(M, p, p) - inner(M, after, after))
    assert lost == approx((1.0 - e) * K_perp, abs=1e-9)
    change = after - p
    assert np.linalg.matrix_rank(np.stack([change, u]), tol=1e-8) <= 1  # (7)


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_elastic_map_is_a_reflection_and_plastic_a_projection(seed):
    M, (u, _), _ = drawn(seed)
    reflection, projection = momentum_map(M, u, 1.0), momentum_map(M, u, 0.0)
    assert_allclose(reflection @ reflection, np.eye(5), atol=1e-10)
    assert_allclose(projection @ projection, projection, atol=1e-10)
    metric = np.linalg.inv(M)
    assert_allclose(reflection @ metric @ reflection.T, metric, atol=1e-8)


@settings(max_examples=40, deadline=None)
@given(SEEDS, RESTITUTIONS)
def test_commutator_is_the_closed_form_for_normals_of_any_length(seed, e):
    M, (u, v), _ = drawn(seed)
    c = 1.0 + np.sqrt(e)
    wedge = np.linalg.solve(M, np.outer(u, v) - np.outer(v, u))
    closed = c**2 * inner(M, u, v) * wedge / (inner(M, u, u) * inner(M, v, v))
    assert_allclose(commutator(M, u, v, e), closed, atol=1e-9)
