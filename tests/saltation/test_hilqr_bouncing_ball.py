"""HiLQR through an impact (5.4.1): Xi converges, D_x R does not, and the pieces it stands on."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from pytest import approx

from saltation.examples.bouncing_ball import FALLING, bouncing_ball_problem
from saltation.hilqr import Hilqr, HilqrOptions, Policies
from tests.saltation.one_bounce import X0, best_bounce
from tests.saltation.rollouts import open_loop


def seed(steps, force):
    return open_loop(np.full((steps, 1), force))


def solve(timestep, force, variant, event_at="end"):
    model, steps = bouncing_ball_problem(1.0, timestep, event_at), round(1.0 / timestep)
    options = HilqrOptions(tolerance=0.05, max_iterations=40, variant=variant)
    return Hilqr(model, options).solve(X0, seed(steps, force))


def bounces(trajectory):
    return sum(e.event.transition.source == FALLING for e in trajectory.aux.events)


def test_xi_converges_through_the_impact_and_the_reset_jacobian_does_not():
    """N = 1000 steps of 1 ms, |dJ| <= 0.05: the figure of Table 5.1, one bounce seeded."""
    found = solve(1e-3, -6.0, "xi")
    assert found.status == "converged" and abs(found.expected_change) <= 0.05
    assert bounces(found.trajectory) == 1
    assert found.trajectory.cost == approx(best_bounce(1.0, 1.0)[0], rel=0.01)
    other = solve(1e-3, -6.0, "dxr")
    assert bounces(other.trajectory) == 1
    assert other.status != "converged" and abs(other.expected_change) > 1.0
    assert other.trajectory.cost > 1.2 * found.trajectory.cost


def test_without_reference_extension_it_does_not_converge():
    """5.5.1, last paragraph but one."""
    found = solve(4e-3, 0.0, "no_extension")
    assert found.status != "converged" and abs(found.expected_change) > 0.05
    assert found.trajectory.cost > 1.1 * best_bounce(1.0, 1.0)[0]


def test_an_unchanged_policy_reproduces_its_trajectory_whatever_its_gains():
    """Through an impact, the extended reference is the trajectory itself: no feedback acts."""
    model, steps = bouncing_ball_problem(1.0, 4e-3), 250
    trajectory = Hilqr(model).start(X0, seed(steps, 0.0))
    gains = np.full((steps, 1, 2), -5.0)
    policies = Policies.of(trajectory.states, trajectory.inputs, gains, aux=trajectory.aux)
    again = model.roll_out(X0, policies).select(0)
    assert_array_equal(again.states, trajectory.states)
    assert_array_equal(again.inputs, trajectory.inputs)


@pytest.mark.parametrize("height", [3.97, 4.03])
def test_extension_keeps_feedback_small_when_the_impact_shifts(height):
    """Early and late impacts: without extension the error jumps by twice the impact speed."""
    model, steps = bouncing_ball_problem(1.0, 1e-3), 1000
    trajectory = Hilqr(model).start(X0, seed(steps, 0.0))
    policies = Policies.of(
        trajectory.states, trajectory.inputs, np.full((steps, 1, 2), -1.0), aux=trajectory.aux
    )
    x0 = np.array([height, 0.0])
    extended = model.roll_out(x0, policies).select(0)
    assert bounces(extended) == 1
    assert abs(extended.aux.events[0].knot - trajectory.aux.events[0].knot) >= 1
    assert np.max(abs(extended.inputs)) < 0.2
    plain = model.roll_out(x0, Policies.of(trajectory.states, trajectory.inputs, policies.gains[0]))
    assert np.max(abs(plain.inputs)) > 10.0
