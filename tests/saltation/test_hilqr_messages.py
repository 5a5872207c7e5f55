"""Why a solve of HiLQR ended: the message of its solution, for each status."""

import numpy as np
import pytest
from pytest import approx

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


def test_an_event_on_a_knot_is_named_where_descent_stalls():
    stalled = solve(model())
    (impact,) = [e.event for e in stalled.trajectory.aux.events]
    assert stalled.status == "stalled" and abs(stalled.expected_change) > 0.1
    assert impact.time / TIMESTEP == approx(36.0, abs=1e-3)
    for part in ("lowers the cost 39.77", "dJ = -1.09", "impact (1, 2) at 0.72 s", "knot 36"):
        assert part in stalled.message


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
