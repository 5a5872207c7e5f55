"""Transition costs (5.23): their expansion is the derivative of the simulated cost."""

import numpy as np
import pytest

from hybrid.examples.bouncing_ball import FALLING, RISING, bouncing_ball
from hybrid.hilqr import Policies, backward_pass, compose
from hybrid.hilqr.cost import QuadraticCost
from hybrid.hilqr.event_driven import EventDrivenModel
from hybrid.hilqr.transition_cost import QuadraticTransitionCost, transition_value
from hybrid.systems import Mode, System, Transition

IMPACT = ((FALLING, RISING),)
WEIGHT = np.array([[3.0, 0.4], [0.4, 2.0]])
H = 1e-6


def impact_cost(constant=0.0, edges=IMPACT):
    return QuadraticTransitionCost(np.array([0.2, -3.0]), WEIGHT, constant, edges)


def ball(timestep, transition_cost, event_at="exact", system=None, state_weight=0.0):
    cost = QuadraticCost(
        np.array([1.0, 0.0]), state_weight * np.eye(2), 1e-3 * np.eye(1), 0.5 * np.eye(2)
    )
    system = system or bouncing_ball()
    return EventDrivenModel(
        system, FALLING, timestep, cost, event_at=event_at, transition_cost=transition_cost
    )


def roll(model, x0, inputs):
    steps, m = inputs.shape
    n = len(x0)
    policies = Policies.of(np.zeros((steps + 1, n)), inputs, np.zeros((steps, m, n)))
    rollouts = model.roll_out(x0, policies)
    assert rollouts.ok[0]
    return rollouts.select(0)


def gradients(model, trajectory):
    """dJ/dx_0 (n,) and dJ/du (N, m) from the expansion, by the adjoint of the linearisation."""
    A, B = compose(model.linearise(trajectory))
    cost = model.quadratise(trajectory)
    adjoint, by_input = cost.l_x[-1], np.empty_like(trajectory.inputs)
    for k in range(len(A) - 1, -1, -1):
        by_input[k] = cost.l_u[k] + B[k].T @ adjoint
        adjoint = cost.l_x[k] + A[k].T @ adjoint
    return adjoint, by_input


def check_against_differences(model, x0, inputs, atol=2e-6):
    by_state, by_input = gradients(model, roll(model, x0, inputs))
    for i in range(len(x0)):
        d = H * np.eye(len(x0))[i]
        slope = (roll(model, x0 + d, inputs).cost - roll(model, x0 - d, inputs).cost) / (2 * H)
        assert by_state[i] == pytest.approx(slope, rel=1e-6, abs=atol)
    for k in range(len(inputs)):
        d = np.zeros_like(inputs)
        d[k] = H
        slope = (roll(model, x0, inputs + d).cost - roll(model, x0, inputs - d).cost) / (2 * H)
        assert by_input[k, 0] == pytest.approx(slope, rel=1e-6, abs=atol)


def test_gradients_are_those_of_the_simulated_cost():
    """Two impacts and two apexes; every one costs something."""
    model = ball(0.05, impact_cost(edges=None))
    inputs = np.sin(np.arange(28.0))[:, None]
    trajectory = roll(model, np.array([1.0, 0.0]), inputs)
    assert len(trajectory.aux.events) == 4
    assert transition_value(model.transition_cost, trajectory.aux) > 1.0
    check_against_differences(model, np.array([1.0, 0.0]), inputs)


def two_doors(guard_by_input=0.2):
    """A mass under a force that bursts through two doors, which give way earlier when pushed."""

    def flow(t, x, u):
        return np.array([x[1], u[0] - 0.4 * x[1]])

    def door(source, place):
        return Transition(
            source,
            source + 1,
            guard=lambda t, x, u: place - x[0] - guard_by_input * u[0],
            reset=lambda t, x, u: np.array([x[0], 0.5 * x[1] + 0.1 * u[0] * u[0]]),
            time_invariant=True,
        )

    modes = {mode: Mode("room", 2, 1, flow) for mode in (1, 2, 3)}
    return System(modes, (door(1, 0.5), door(2, 0.6)))


@pytest.mark.parametrize("timestep", [0.05, 0.6])
def test_a_guard_that_depends_on_the_input(timestep):
    """In steps of 0.6 s both doors burst in one: the first sets the second's input off."""
    model = ball(timestep, impact_cost(edges=None), system=two_doors())
    inputs = 0.8 + 0.1 * np.sin(np.arange(round(1.2 / timestep)))[:, None]
    trajectory = roll(model, np.array([0.0, 1.0]), inputs)
    knots = [event.knot for event in trajectory.aux.events]
    assert len(knots) == 2 and (len(set(knots)) == 1) == (timestep == 0.6)
    check_against_differences(model, np.array([0.0, 1.0]), inputs)


def test_a_guard_that_the_input_jumps_over():
    """The force jumps at a knot, and the door is behind the mass: that event's time is fixed."""
    model = ball(0.1, impact_cost(edges=None), system=two_doors())
    inputs = np.array([[0.0], [2.0], [0.0]])
    trajectory = roll(model, np.array([0.1, 1.0]), inputs)
    assert [event.knot for event in trajectory.aux.events] == [1, 1]
    assert trajectory.aux.events[0].event.time == 0.1
    check_against_differences(model, np.array([0.1, 1.0]), inputs)


def test_a_cost_on_the_guard_has_no_gradient():
    """The height is zero at every impact: (5.27) as printed gives it one."""
    height_only = QuadraticTransitionCost(np.array([-1.0, 0.0]), np.diag([5.0, 0.0]))
    model = ball(0.05, height_only)
    inputs = np.zeros((12, 1))
    trajectory = roll(model, np.array([1.0, 0.0]), inputs)
    with_cost = model.quadratise(trajectory)
    without = ball(0.05, None).quadratise(trajectory)
    knot, event = trajectory.aux.events[0]
    np.testing.assert_allclose(with_cost.l_x, without.l_x, atol=1e-12)
    np.testing.assert_allclose(with_cost.l_xx, without.l_xx, atol=1e-12)
    assert np.max(abs(height_only.gradient(event.state_before))) > 1.0  # what is printed
    assert trajectory.cost == pytest.approx(
        roll(ball(0.05, None), trajectory.states[0], inputs).cost + 5.0
    )


def test_hessian_terms_are_those_of_a_linear_map():
    """About a constant gradient of zero the Gauss-Newton Hessian is the Hessian."""
    x0, inputs, k = np.array([1.0, -0.5]), np.zeros((9, 1)), 8
    model = ball(0.05, None)
    state_before = roll(model, x0, inputs).aux.events[0].event.state_before
    knot = roll(model, x0, inputs).aux.events[0].knot
    model.transition_cost = QuadraticTransitionCost(state_before, WEIGHT)
    trajectory = roll(model, x0, inputs)
    bare = ball(0.05, None).quadratise(trajectory)
    found = model.quadratise(trajectory)
    h = 1e-4

    def cost(direction):
        start = trajectory.states[knot] + direction[:2]
        u = trajectory.inputs[knot:] + 0.0
        u[0] += direction[2]
        return transition_value(model.transition_cost, roll(model, start, u).aux)

    hessian = np.block(
        [
            [found.l_xx[knot] - bare.l_xx[knot], found.l_ux[knot].T],
            [found.l_ux[knot], found.l_uu[knot] - bare.l_uu[knot]],
        ]
    )
    assert k >= knot
    for i in range(3):
        for j in range(3):
            e, f = h * np.eye(3)[i], h * np.eye(3)[j]
            second = (cost(e + f) - cost(e - f) - cost(f - e) + cost(-e - f)) / (4 * h * h)
            assert hessian[i, j] == pytest.approx(second, rel=2e-3, abs=2e-3)


def test_descent_sees_it_and_the_expected_change_is_the_actual_one():
    """A ball that is to land softly: the impact's speed is what costs."""
    softly = QuadraticTransitionCost(np.array([0.0, -2.0]), np.diag([0.0, 4.0]), edges=IMPACT)
    model, steps = ball(0.01, softly, "exact"), 60
    x0 = np.array([1.0, 0.0])
    start = roll(model, x0, np.zeros((steps, 1)))
    ratios = []
    for step_size in (1e-2, 1e-3):
        backward = backward_pass(model.linearise(start), model.quadratise(start))
        policies = Policies.of(
            start.states,
            start.inputs,
            backward.gains,
            backward.feedforward,
            (step_size,),
            start.aux,
        )
        change = model.roll_out(x0, policies).cost[0] - start.cost
        ratios.append(abs(change / backward.expected_change(step_size) - 1.0))
    assert ratios[1] < 0.02 and ratios[1] < 0.3 * ratios[0]
