import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid.impacts.surface_cosines import surface_cosines, unit_normals
from studies.seghete_murphey.systems.momentum_maps import commutator, commute, momentum_map

SEEDS = st.integers(0, 2**32 - 1)
RESTITUTIONS = st.floats(0.0, 1.0)


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
    assert inner(M, after, u) == pytest.approx(-np.sqrt(e) * inner(M, p, u), abs=1e-9)
    K_perp = inner(M, p, u) ** 2 / (2.0 * inner(M, u, u))
    lost = 0.5 * (inner(M, p, p) - inner(M, after, after))
    assert lost == pytest.approx((1.0 - e) * K_perp, abs=1e-9)
    change = after - p
    assert np.linalg.matrix_rank(np.stack([change, u]), tol=1e-8) <= 1  # (7)


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_elastic_map_is_a_reflection_and_plastic_a_projection(seed):
    M, (u, _), _ = drawn(seed)
    reflection, projection = momentum_map(M, u, 1.0), momentum_map(M, u, 0.0)
    np.testing.assert_allclose(reflection @ reflection, np.eye(5), atol=1e-10)
    np.testing.assert_allclose(projection @ projection, projection, atol=1e-10)
    metric = np.linalg.inv(M)
    np.testing.assert_allclose(reflection @ metric @ reflection.T, metric, atol=1e-8)


@settings(max_examples=40, deadline=None)
@given(SEEDS, RESTITUTIONS)
def test_commutator_is_the_closed_form_for_normals_of_any_length(seed, e):
    M, (u, v), _ = drawn(seed)
    c = 1.0 + np.sqrt(e)
    wedge = np.linalg.solve(M, np.outer(u, v) - np.outer(v, u))
    closed = c**2 * inner(M, u, v) * wedge / (inner(M, u, u) * inner(M, v, v))
    np.testing.assert_allclose(commutator(M, u, v, e), closed, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(SEEDS, RESTITUTIONS, st.floats(-1.0, 1.0), st.floats(0.05, 20.0))
def test_maps_commute_exactly_where_surfaces_are_orthogonal_or_tangent(seed, e, tilt, length):
    M, (u, v), _ = drawn(seed)
    across = v - inner(M, u, v) / inner(M, u, u) * u
    across *= np.sqrt(inner(M, u, u) / inner(M, across, across))
    assert commute(M, u, length * across)
    assert commute(M, u, -length * u)
    assert np.abs(commutator(M, u, length * across, e)).max() < 1e-8
    assert np.abs(commutator(M, u, -length * u, e)).max() < 1e-8
    tilted = across + tilt * u
    if abs(tilt) > 1e-6:
        assert not commute(M, u, tilted)
        assert np.abs(commutator(M, u, tilted, e)).max() > 1e-3 * abs(tilt) / np.linalg.norm(M)


def test_normals_orthogonal_to_the_eye_are_not_so_in_the_metric():
    M = np.array([[2.0, 1.0], [1.0, 2.0]])
    assert not commute(M, np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    assert surface_cosines(M, np.eye(2))[0, 1] == pytest.approx(-0.5)
    assert commute(M, np.array([1.0, 0.0]), np.array([1.0, 2.0]))


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_cosines_do_not_depend_on_coordinates_or_lengths(seed):
    M, normals, _ = drawn(seed, m=3)
    T = np.random.default_rng(seed).normal(size=(5, 5)) + 3.0 * np.eye(5)  # v = T v'
    s = surface_cosines(M, normals)
    np.testing.assert_allclose(surface_cosines(T.T @ M @ T, normals @ T), s, atol=1e-8)
    np.testing.assert_allclose(surface_cosines(7.0 * M, 0.1 * normals), s, atol=1e-10)
    np.testing.assert_allclose(np.diag(s), 1.0)
    units = unit_normals(M, normals)
    np.testing.assert_allclose(units @ units.T, s, atol=1e-10)


@pytest.mark.parametrize(
    ("M", "J_n", "said"),
    [
        (np.eye(2), np.zeros((0, 2)), "no contact is active"),
        (np.diag([1.0, 0.0]), np.eye(2), "velocity 1 moves without inertia"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), np.eye(2), "positive definite"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), np.eye(2), "symmetric"),
        (np.full((2, 2), np.nan), np.eye(2), "M is not finite"),
        (np.eye(2), np.array([[1.0, 0.0], [0.0, 0.0]]), "contact FL is zero"),
        (np.eye(2), np.array([[1.0, np.nan], [0.0, 1.0]]), "contact FR is zero or not finite"),
        (np.eye(3), np.eye(2), "do not fit"),
    ],
)
def test_mistakes_are_told_with_the_configuration(M, J_n, said):
    with pytest.raises(ValueError, match=f"stance 3: .*{said}") as caught:
        surface_cosines(M, J_n, ("FR", "FL"), "stance 3")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("e", [-0.1, 1.1, np.nan])
def test_restitution_outside_its_range_is_refused(e):
    with pytest.raises(ValueError, match="restitution .*give 0"):
        momentum_map(np.eye(2), np.array([1.0, 0.0]), e)
