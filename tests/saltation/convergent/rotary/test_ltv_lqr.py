"""Regulators along a trajectory and at a point, against closed forms."""

import numpy as np
import pytest
from pytest import approx
from scipy.integrate import solve_ivp

from saltation.convergent.rotary.ltv_lqr import infinite_horizon_lqr, ltv_lqr

A = np.array([[0.0, 1.0], [3.0, -0.2]])
B = np.array([[0.0], [2.0]])
Q, R = np.diag([2.0, 0.5]), np.array([[0.3]])


def test_a_long_time_before_the_end_it_is_the_infinite_horizons():
    known = infinite_horizon_lqr(A, B, Q, R)
    found = ltv_lqr(lambda _: (A, B), np.linspace(0.0, 20.0, 3), Q, np.eye(2), R, 1e-10)
    assert np.allclose(found.costs[0], known.cost, atol=1e-8)
    assert np.allclose(found.gains[0], known.gain, atol=1e-8)
    assert np.allclose(found.costs[-1], np.eye(2))


def varying(time):
    return A + np.array([[0.0, 0.0], [np.sin(3.0 * time), np.cos(time)]]), B * (1.0 + 0.5 * time)


def test_it_is_the_cost_to_go_of_the_closed_loop():
    times, Q_f = np.linspace(0.0, 1.0, 201), np.diag([4.0, 1.0])
    found = ltv_lqr(varying, times, Q, Q_f, R, 1e-10)

    def rate(time, y):
        here_A, here_B = varying(time)
        gain = np.array([[np.interp(time, times, found.gains[:, 0, i]) for i in range(2)]])
        u = -gain @ y[:2]
        return [*(here_A @ y[:2] + here_B @ u), y[:2] @ Q @ y[:2] + u @ R @ u]

    x = np.array([0.7, -1.1])
    end = solve_ivp(rate, (0.0, 1.0), [*x, 0.0], rtol=1e-10, atol=1e-12).y[:, -1]
    paid = end[2] + end[:2] @ Q_f @ end[:2]
    assert paid == approx(x @ found.costs[0] @ x, rel=1e-5)


@pytest.mark.parametrize("kind, A, Q, R, name", [
    ("infinite", np.eye(2), Q, R, "stabilising"), ("infinite", A, Q, -R, "R"),
    ("along", A, Q, 0.0 * R, "R"), ("along", A, np.nan * Q, R, "Q"),
    ("along", np.nan * A, Q, R, "1 s"),
])  # fmt: skip
def test_what_is_refused(kind, A, Q, R, name):
    with pytest.raises(ValueError, match=name):
        if kind == "infinite":
            infinite_horizon_lqr(A, np.zeros((2, 1)) if name == "stabilising" else B, Q, R)
        else:
            ltv_lqr(lambda _: (A, B), np.linspace(0.0, 1.0, 3), Q, np.eye(2), R)
