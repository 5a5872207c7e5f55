"""Momentum maps: (9) and its commutator, all orders (11), and (16)-(20) by central differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from pytest import approx

from saltation.impacts.resolution import sequential
from saltation.impacts.surface_cosines import surface_cosines
from studies.seghete_murphey.systems.momenta import (
    all_orders,
    deviation,
    map_factor,
    order_sensitivity,
)
from studies.seghete_murphey.variational_integrator import momenta, next_angle, swing
from tests.differences import slopes
from tests.saltation.impacts.drawn_problems import drawn as drawn_impact

SEEDS = st.integers(0, 2**32 - 1)
RESTITUTIONS = st.floats(0.0, 1.0)
STEP = 1e-5


def inner(M, a, b):
    return a @ np.linalg.solve(M, b)


def gamma(M, u, e=1.0):
    """The map (9) at a normal of any length, as a matrix."""
    direction = np.linalg.solve(M, u)
    return np.eye(len(u)) - map_factor(e) * np.outer(direction, u) / (u @ direction)


def drawn(seed, n=5):
    """M and covectors u, v, w, p: u, v, w unit, u and w orthogonal to v, <u, w> not zero."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    M = A @ A.T + 0.5 * np.eye(n)
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    angle = rng.uniform(0.2, 1.3)
    u, v, w = Q[0], Q[1], np.cos(angle) * Q[0] + np.sin(angle) * Q[2]
    L = np.linalg.cholesky(M)
    return M, L @ u, L @ v, L @ w, L @ rng.normal(size=n)


@given(SEEDS, RESTITUTIONS)
def test_a_map_reverses_the_normal_part_and_loses_the_energy_of_its_derivation(seed, e):
    M, u, _, _, p = drawn(seed)
    (after, _, _), *_ = all_orders(M, np.copysign(1.0, -inner(M, p, u)) * u[None], p, e).ends
    assert_allclose(after, p @ gamma(M, u, e), atol=1e-9)
    assert inner(M, after, u) == approx(-np.sqrt(e) * inner(M, p, u), abs=1e-9)
    lost = 0.5 * (inner(M, p, p) - inner(M, after, after))
    assert lost == approx((1.0 - e) * inner(M, p, u) ** 2 / 2.0, abs=1e-9)  # u is of unit length
    assert np.linalg.matrix_rank(np.stack([after - p, u]), tol=1e-8) <= 1  # (7)


def difference(M, u, v, w, p, e, first_v=True):
    """Central difference by eps of p Gamma(v_eps) Gamma(u), or of the other order."""

    def end(eps):
        turned, fixed = gamma(M, v + eps * w, e), gamma(M, u, e)
        return p @ turned @ fixed if first_v else p @ fixed @ turned

    return slopes(end, 0.0, STEP)


def close(a, b):
    assert_allclose(a, b, atol=2e-7 * max(1.0, float(np.abs(b).max())))


@given(SEEDS, RESTITUTIONS)
def test_18_corrected_is_the_derivative_of_both_orders(seed, e):
    M, u, v, w, p = drawn(seed)
    found = order_sensitivity(M, u, v, w, p, e)
    close(found.dp_vu, difference(M, u, v, w, p, e))
    close(found.dp_uv, difference(M, u, v, w, p, e, first_v=False))
    parted = map_factor(e) ** 2 * inner(M, u, w) * (inner(M, p, v) * u - inner(M, p, u) * v)
    close(found.dp_vu - found.dp_uv, parted)
    assert found.spread == approx(np.sqrt(inner(M, parted, parted)), abs=1e-8)


@settings(max_examples=20)
@given(SEEDS, RESTITUTIONS)
def test_19_and_20(seed, e):
    M, u, v, w, p = drawn(seed)
    found = order_sensitivity(M, u, v, w, p, e)
    b, d, g = inner(M, p, v), inner(M, p, w), inner(M, u, w)
    length = inner(M, found.dp_vu, found.dp_vu)
    expected = map_factor(e) ** 2 * (b * b * (1.0 - (1.0 - e) * g * g) + d * d)
    assert length == approx(expected, rel=1e-9)
    elastic, star = order_sensitivity(M, u, v, w, p), d * w + b * v  # onto Span{v, w} (20)
    assert inner(M, elastic.dp_vu, elastic.dp_vu) == approx(4.0 * inner(M, star, star))
    after = p @ gamma(M, v) @ gamma(M, u)
    assert inner(M, elastic.dp_vu, after) == approx(0.0, abs=1e-8)


@settings(max_examples=20)
@given(SEEDS)
def test_a_deviation_is_the_way_back_to_orthogonality(seed):
    M, (u, v) = drawn(seed)[0], np.random.default_rng(seed).normal(size=(2, 5))
    at_u, at_v, epsilon = deviation(M, u, v)
    assert surface_cosines(M, np.stack([at_u, at_v]))[0, 1] == approx(0.0, abs=1e-9)
    assert surface_cosines(M, np.stack([at_v + epsilon * at_u, v]))[0, 1] == approx(1.0)


@settings(max_examples=25)
@given(SEEDS, RESTITUTIONS, st.integers(1, 3))
def test_every_outcome_is_feasible_gains_no_energy_and_is_the_product_of_its_maps(seed, e, m):
    problem, v = drawn_impact(seed, m=m, friction=0.0)
    M, J_n, p = problem.M, problem.J_n, problem.M @ v
    found = all_orders(M, J_n, p, e, max_maps=30, max_orders=200)
    for p_plus, order, feasible in found.ends:
        product = p.copy()
        for surface in order:
            assert inner(M, product, J_n[surface]) < 0.0  # a map where it is infeasible only
            product = product @ gamma(M, J_n[surface], e)
        assert_allclose(p_plus, product, atol=1e-8 * np.linalg.norm(p))
        energies = inner(M, p_plus, p_plus), inner(M, p, p)
        assert energies[0] <= energies[1] * (1.0 + 1e-12)
        if feasible:
            sizes = np.sqrt([inner(M, u, u) for u in J_n])
            assert (J_n @ np.linalg.solve(M, p_plus) >= -1e-9 * sizes * np.sqrt(energies[1])).all()
    assert len({order for _, order, _ in found.ends}) == len(found.ends)


@pytest.mark.parametrize("s", [0.6, 0.1, -0.2, -0.55, -0.8, -0.95])
def test_elastic_wedge_needs_at_most_pi_over_its_angle(s):
    """Two unit normals of cosine s, and a momentum that closes both: M is the identity."""
    normals = np.array([[1.0, 0.0], [s, np.sqrt(1.0 - s * s)]])
    found = all_orders(np.eye(2), normals, -normals[0] - 1.01 * normals[1])
    assert found.status == "complete" and len(found.ends) == 2
    longest = max(len(order) for _, order, _ in found.ends)
    assert longest <= np.ceil(np.pi / np.arccos(-s)) and (longest > 2 or s > -0.55)


@settings(max_examples=15)
@given(SEEDS)
def test_plastic_maps_are_sequential_impacts_without_friction(seed):
    problem, v = drawn_impact(seed, friction=0.0)
    ends = all_orders(problem.M, problem.J_n, problem.M @ v, 0.0).ends
    one = next(p_plus for p_plus, order, _ in ends if order[0] == 0)
    other = sequential(problem, v, (0, 1)).v_plus
    found = np.linalg.solve(problem.M, one)
    assert_allclose(found, other, atol=1e-6 * np.linalg.norm(other))


@given(st.floats(-2.0, 2.0), st.floats(-3.0, 3.0))
def test_a_variational_step_is_symplectic_and_reversible(angle, p):
    """Area in the plane of angle and momentum is kept; back from the end, the step returns."""
    h = 0.1

    def step(x):
        b = next_angle(x[0], x[1], h)
        return np.array([b, momenta(x[0], b, h)[1]])

    x = np.array([angle, p])
    assert np.linalg.det(slopes(step, x, STEP)) == approx(1.0, abs=1e-6)
    assert_allclose(step(step(x) * [1.0, -1.0]) * [1.0, -1.0], x, atol=1e-9)


def test_an_impact_at_the_wall_keeps_the_energy_of_its_step():
    t, angle, energy = swing(0.05, wall=True)[:60].T
    hits = np.flatnonzero(angle == angle.min())
    assert len(hits) and np.all(np.diff(t) > 0.0) and np.all(angle >= -0.5)
    assert_allclose(energy[hits], energy[hits - 1], atol=0.01)
