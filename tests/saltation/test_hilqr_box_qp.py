"""Quadratic programs in a box against SciPy, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import lsq_linear

from saltation.hilqr.box_qp import make_box_qp, solve_box_qp


def solve(H, g, low, high):
    qp = make_box_qp(len(g))
    qp.g[:] = g
    return solve_box_qp(H, low, high, qp), qp


@pytest.mark.parametrize("m", [1, 2, 5, 12])
@pytest.mark.parametrize("condition", [0.0, 3.0])
def test_it_finds_what_scipy_finds(m, condition):
    """The minimum of |F x - y|^2 / 2; some entries are free, some fixed, and some boxes have no
    zero in them."""
    draw = np.random.default_rng(m)
    for _ in range(50):
        F = draw.normal(size=(m + 2, m)) * 10.0 ** draw.uniform(-condition, condition, m)
        y = 3.0 * draw.normal(size=m + 2)
        scale = 1.0 / np.linalg.norm(F, axis=0)
        low, high = scale * draw.uniform(-2.0, 0.5, m), scale * draw.uniform(0.6, 2.0, m)
        low[draw.random(m) < 0.2] = -np.inf
        high[draw.random(m) < 0.2] = np.inf
        ok, out = solve(F.T @ F, -F.T @ y, low, high)
        expected = lsq_linear(F / np.linalg.norm(F, axis=0), y, (low / scale, high / scale),
                              method="bvls", tol=1e-15)  # fmt: skip
        assert ok and np.all((out.x >= low) & (out.x <= high))
        assert_allclose(out.x / scale, expected.x, rtol=1e-6, atol=1e-8)
        slope = scale * (F.T @ (F @ out.x - y))
        assert_allclose(slope[~out.clamped], 0.0, atol=1e-9)
        assert np.all(slope[out.clamped & (out.x == low)] > 0.0)
        assert np.all(slope[out.clamped & (out.x == high)] < 0.0)


def test_a_minimum_on_the_edge_of_a_bound_is_found():
    """The gradient is zero at the bound, to rounding: the set may not change for ever."""
    draw = np.random.default_rng(1)
    for _ in range(100):
        F, x = draw.normal(size=(8, 6)), draw.normal(size=6)
        H = F.T @ F
        ok, out = solve(H, -H @ x, np.full(6, -np.inf), np.where(draw.random(6) < 0.5, x, np.inf))
        assert ok
        assert_allclose(out.x, x, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("broken", ["indefinite", "hessian", "gradient", "infinite"])
def test_what_has_no_minimum_is_refused(broken):
    H, g, wide = np.eye(3), np.ones(3), np.full(3, 10.0)
    if broken == "indefinite":
        H[1, 1] = -1.0
    elif broken == "hessian":
        H[0, 1] = H[1, 0] = np.nan
    else:
        g[2] = np.nan if broken == "gradient" else np.inf
    assert not solve(H, g, -wide, wide)[0]
