"""(16)-(20) against central differences of products of momentum maps, and what the print has."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

from hybrid.impacts.surface_cosines import surface_cosines
from studies.seghete_murphey.systems.momentum_maps import deviation, momentum_map, order_sensitivity
from tests.differences import slopes

SEEDS = st.integers(0, 2**32 - 1)
STEP = 1e-5


def inner(M, a, b):
    return a @ np.linalg.solve(M, b)


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


def difference(M, u, v, w, p, e, first_v=True):
    """Central difference by eps of p Gamma(v_eps) Gamma(u), or of the other order."""

    def end(eps):
        turned, fixed = momentum_map(M, v + eps * w, e), momentum_map(M, u, e)
        return p @ turned @ fixed if first_v else p @ fixed @ turned

    return slopes(end, 0.0, STEP)


def close(a, b):
    np.testing.assert_allclose(a, b, atol=2e-7 * max(1.0, float(np.abs(b).max())))


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.floats(0.0, 1.0))
def test_18_corrected_is_the_derivative_of_both_orders(seed, e):
    M, u, v, w, p = drawn(seed)
    found = order_sensitivity(M, u, v, w, p, e)
    close(found.dp_vu, difference(M, u, v, w, p, e))
    close(found.dp_uv, difference(M, u, v, w, p, e, first_v=False))
    c = 1.0 + np.sqrt(e)
    parted = c**2 * inner(M, u, w) * (inner(M, p, v) * u - inner(M, p, u) * v)
    close(found.dp_vu - found.dp_uv, parted)
    assert found.spread == approx(np.sqrt(inner(M, parted, parted)), abs=1e-8)


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_18_as_printed_has_the_wrong_sign(seed):
    M, u, v, w, p = drawn(seed)
    cross = 2.0 * inner(M, u, w) * np.outer(v, u)
    printed = 2.0 * p @ np.linalg.solve(M, np.outer(v, w) + np.outer(w, v) - cross)
    exact = difference(M, u, v, w, p, 1.0)
    close(-printed, exact)
    assert np.abs(printed - exact).max() > 1e-3 * np.abs(exact).max() > 0.0


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.floats(-0.3, 0.3))
def test_17_needs_a_plus_before_u_u(seed, eps):
    M, u, v, w, p = drawn(seed)
    turned = v + eps * w
    bracket = np.outer(turned, turned) - 2.0 * eps * inner(M, u, w) * np.outer(turned, u)
    bracket /= inner(M, turned, turned)
    exact = p @ momentum_map(M, turned) @ momentum_map(M, u)
    for sign, holds in ((1.0, True), (-1.0, False)):
        form = p - 2.0 * p @ np.linalg.solve(M, bracket + sign * np.outer(u, u))
        assert np.allclose(form, exact, atol=1e-9) == holds


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.floats(0.0, 1.0))
def test_19_and_20(seed, e):
    M, u, v, w, p = drawn(seed)
    found = order_sensitivity(M, u, v, w, p, e)
    b, d, g = inner(M, p, v), inner(M, p, w), inner(M, u, w)
    c = 1.0 + np.sqrt(e)
    length = inner(M, found.dp_vu, found.dp_vu)
    assert length == approx(c**2 * (b * b * (1.0 - (1.0 - e) * g * g) + d * d), rel=1e-9)
    elastic = order_sensitivity(M, u, v, w, p)
    star = elastic.p_star
    assert inner(M, elastic.dp_vu, elastic.dp_vu) == approx(4.0 * inner(M, star, star))
    for axis in (v, w):  # a projection onto their span
        assert inner(M, p - star, axis) == approx(0.0, abs=1e-9)
    after = p @ momentum_map(M, v) @ momentum_map(M, u)
    assert inner(M, elastic.dp_vu, after) == approx(0.0, abs=1e-8)


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_a_deviation_is_the_way_back_to_orthogonality(seed):
    rng = np.random.default_rng(seed)
    M = drawn(seed)[0]
    u, v = rng.normal(size=(2, 5))
    found = deviation(M, u, v)
    assert surface_cosines(M, np.stack([found.u, found.v]))[0, 1] == approx(0.0, abs=1e-9)
    turned = found.v + found.epsilon * found.w
    assert surface_cosines(M, np.stack([turned, v]))[0, 1] == approx(1.0)
    order_sensitivity(M, found.u, found.v, found.w, u)  # is of unit length and orthogonal
