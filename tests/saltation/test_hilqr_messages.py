"""Why a solve of HiLQR ended: the message of its solution, for each status."""

import numpy as np
import pytest
from pytest import approx

import saltation as sa
from saltation.examples.bouncing_ball import bouncing_ball_problem
from saltation.hilqr import Hilqr, HilqrOptions, Policies

STEPS, TIMESTEP, HIGH = 50, 0.02, np.array([4.0, 0.0])


def model():
    """A ball that is to be at rest 1 m above the floor after a second, with little force."""
    return bouncing_ball_problem(1.0, TIMESTEP, "exact")


def solve(problem, x0=HIGH, seed=None, **options):
    seed = Policies.zeros(problem, STEPS) if seed is None else seed
    options = {"tolerance": 1e-4, "max_iterations": 100} | options
    return Hilqr(problem, HilqrOptions(**options)).solve(x0, seed)


def test_descent_goes_on_along_a_kink_to_the_cost_that_ipopt_finds():
    found = solve(model(), tolerance=1e-6, max_iterations=200)
    (impact,) = [e.event for e in found.trajectory.aux.events]
    assert found.status == "converged" and impact.time / TIMESTEP == approx(36.0, abs=1e-9)
    assert found.trajectory.cost == approx(39.4562694, rel=1e-6)


def test_an_impact_that_almost_grazes_is_named_where_descent_stalls():
    def strike(t, x, u):
        return np.array([x[0], -0.8 * x[1]])

    swing = sa.Mode("swing", 2, 1, lambda t, x, u: np.array([x[1], u[0] - 9.8 * np.sin(x[0])]))
    wall = sa.Transition(1, 1, lambda t, x, u: 0.5 - x[0], strike, name="wall")
    cost = sa.QuadraticCost.reaching(np.array([-0.8, 0.0]), 3e-3 * np.eye(1), 100.0 * np.eye(2))
    problem = sa.EventDrivenModel(sa.System({1: swing}, [wall]), 1, 0.03, cost)
    stalled = solve(problem, np.array([0.0, 3.0]))
    assert stalled.status == "stalled" and abs(stalled.expected_change) > 0.01
    assert "wall (1, 1) at 0.367" in stalled.message and "multiplies" in stalled.message


def test_iterations_and_time_that_were_too_few():
    short = solve(model(), max_iterations=2)
    assert short.status == "not_converged" and "iteration 2 was the last, at |dJ|" in short.message
    late = Hilqr(model()).solve(HIGH, Policies.zeros(model(), STEPS), out_of_time=lambda: True)
    assert late.status == "out_of_time" and "time was up in iteration 1" in late.message
    none = solve(model(), max_iterations=0)
    assert none.status == "not_converged" and "max_iterations is 0" in none.message


@pytest.mark.parametrize("name", ["inputs", "gains"])
def test_a_seed_that_is_not_finite(name):
    seed = Policies.zeros(model(), STEPS)
    getattr(seed, name)[0, 7] = np.nan
    failed = solve(model(), seed=seed)
    assert failed.status == "failed" and failed.trajectory is None
    assert f"seed's {name} are not finite at knot 7" in failed.message
    assert solve(model(), np.array([np.nan, 0.0])).message == "x0 = [nan  0.] is not finite"
