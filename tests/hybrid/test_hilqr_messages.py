"""Why a solve of HiLQR ended: the message of its solution, for each status."""

import numpy as np
import pytest

from hybrid.examples.bouncing_ball import bouncing_ball
from hybrid.hilqr import Hilqr, HilqrOptions, Policies
from hybrid.hilqr.cost import QuadraticCost
from hybrid.hilqr.event_driven import EventDrivenModel
from hybrid.hilqr.event_linearisation import Placement
from studies.kong.variational import ramped

STEPS, TIMESTEP, HIGH = 50, 0.02, np.array([4.0, 0.0])


def model(event_at: Placement = "exact", input_weight: float = 0.01):
    """A ball that is to be at rest 1 m above the floor after a second, with little force."""
    cost = QuadraticCost.reaching(
        np.array([1.0, 0.0]), np.array([[input_weight]]), 100.0 * np.eye(2)
    )
    return EventDrivenModel(bouncing_ball(), 1, TIMESTEP, cost, event_at=event_at)


def solve(problem, x0=HIGH, seed=None, **options):
    seed = Policies.zeros(problem, STEPS) if seed is None else seed
    options = {"tolerance": 1e-4, "max_iterations": 100} | options
    return Hilqr(problem, HilqrOptions(**options)).solve(x0, seed)


def test_an_event_on_a_knot_is_named_where_descent_stalls():
    stalled = solve(model())
    assert stalled.trajectory is not None
    (impact,) = [e.event for e in stalled.trajectory.aux.events]
    assert stalled.status == "stalled" and abs(stalled.expected_change) > 0.1
    assert impact.time / TIMESTEP == pytest.approx(36.0, abs=1e-3)
    for part in ("lowers the cost 39.77", "dJ = -1.09", "impact (1, 2) at 0.72 s", "knot 36"):
        assert part in stalled.message


def test_the_remedy_for_a_kink_helps():
    """The same ball with a continuous force: descent goes on past where the event meets a knot."""
    target, terminal = np.array([1.0, 0.0, 0.0]), np.diag([100.0, 100.0, 0.0])
    cost = QuadraticCost(target, np.diag([0.0, 0.0, 0.01]), np.array([[1e-5]]), terminal)
    smooth = EventDrivenModel(ramped(bouncing_ball()), 1, TIMESTEP, cost, event_at="exact")
    solved = solve(smooth, np.array([4.0, 0.0, 0.0]))
    assert (solved.status, solved.message) == ("converged", "")


def test_derivatives_that_are_not_the_rollouts_are_named():
    stalled = solve(model("end_held"))
    assert stalled.status == "stalled" and "use event_at='exact'" in stalled.message
    reset = solve(model(), np.array([2.0, 0.0]), variant="dxr")
    assert reset.status == "stalled" and "'xi' has the derivatives" in reset.message


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


def test_a_seed_whose_simulation_fails_has_the_simulations_message():
    failed = solve(model(), np.array([1e-3, 0.0]))
    assert failed.status == "failed"
    for part in ("none of the seed's 1 candidates", "knot 5", "zeno: in mode rising", "20 events"):
        assert part in failed.message


def test_an_indefinite_input_hessian_says_at_which_knot():
    failed = solve(model(input_weight=-1e12))
    assert failed.status == "indefinite" and "Q_uu of knot 49" in failed.message
    failed = solve(model(input_weight=np.nan))
    assert failed.status == "failed" and "cost is nan" in failed.message


def test_derivatives_that_are_not_finite_are_named():
    class Broken(EventDrivenModel):
        def quadratise(self, trajectory):
            expansion = super().quadratise(trajectory)
            expansion.l_ux[12] = np.nan
            return expansion

    sound = model()
    broken = Broken(sound.system, 1, TIMESTEP, sound.cost, event_at="exact")
    failed = solve(broken)
    assert failed.status == "indefinite" and "l_ux of the model is not finite" in failed.message
    assert "knot 12" in failed.message


def test_zeros_start_from_rest():
    seed = Policies.zeros(bouncing_ball(), 3)
    assert seed.states.shape == (1, 4, 2) and seed.inputs.shape == (1, 3, 1)
    assert seed.gains.shape == (1, 3, 1, 2) and not np.any(seed.inputs) and seed.count == 1
