"""The saltation matrix against closed forms and against finite differences of simulated flows."""

import numpy as np
import pytest

from hybrid.examples.bouncing_ball import FALLING, GRAVITY, MASS, RESTITUTION, bouncing_ball
from hybrid.integration import flow_jacobians, flow_state
from hybrid.saltations import saltation, saltation_matrix
from hybrid.simulation import simulate_step
from hybrid.systems import Mode, System, Transition


def moving_floor():
    """A ball that drags through air onto a floor that moves, with a reset that knows the time."""

    def flow(t, x, u):
        return np.array([x[1], u[0] - 9.8 - 0.3 * x[1] * abs(x[1]) + np.sin(3.0 * t)])

    def flow_state(t, x, u):
        return np.array([[0.0, 1.0], [0.0, -0.6 * abs(x[1])]])

    mode = Mode("air", 2, 1, flow, flow_state, lambda t, x, u: np.array([[0.0], [1.0]]))
    floor, floor_speed = lambda t: 0.2 * np.sin(5.0 * t), lambda t: np.cos(5.0 * t)
    bounce = Transition(
        0,
        1,
        guard=lambda t, x, u: x[0] - floor(t),
        guard_state=lambda t, x, u: np.array([1.0, 0.0]),
        guard_time=lambda t, x, u: -floor_speed(t),
        reset=lambda t, x, u: np.array([x[0], -0.6 * (x[1] - floor_speed(t)) + floor_speed(t)]),
        reset_state=lambda t, x, u: np.diag([1.0, -0.6]),
        reset_time=lambda t, x, u: np.array([0.0, -1.6 * 5.0 * np.sin(5.0 * t)]),
    )
    return System({0: mode, 1: mode}, (bounce,))


def numerical_jacobian(function, x, h=1e-5):
    columns = [(function(x + h * e) - function(x - h * e)) / (2 * h) for e in np.eye(len(x))]
    return np.array(columns).T


@pytest.mark.parametrize("velocity, force", [(-8.8, 0.0), (-2.0, 5.0), (-0.5, -20.0)])
def test_ball_matches_its_closed_form(velocity, force):
    """(5.36)."""
    system = bouncing_ball()
    impact = system.outgoing(FALLING)[0]
    found = saltation(system, impact, 0.0, np.array([0.0, velocity]), np.array([force]))
    e, gain = RESTITUTION, (force - MASS * GRAVITY) * (RESTITUTION + 1.0) / (MASS * velocity)
    assert found.ok
    np.testing.assert_allclose(found.matrix, [[-e, 0.0], [gain, -e]], atol=1e-12)
    np.testing.assert_array_equal(found.reset_jacobian, [[1.0, 0.0], [0.0, -e]])


def test_apex_is_the_identity():
    """(3.12): same flow on both sides, identity reset."""
    system = bouncing_ball()
    apex = system.transitions[1]
    found = saltation(system, apex, 0.0, np.array([1.2, 0.0]), np.array([3.0]))
    np.testing.assert_allclose(found.matrix, np.eye(2), atol=1e-15)


@pytest.mark.parametrize("make", [bouncing_ball, moving_floor])
@pytest.mark.parametrize("velocity", [-3.0, -6.0])
def test_matches_finite_differences_of_the_flow(make, velocity):
    """(3.32) about a time and state that are on the guard, with D_t terms in the second system."""
    system, u = make(), np.array([1.0])
    start = 1 if make is bouncing_ball else 0
    x0 = np.array([0.9, velocity])
    met = simulate_step(system, start, x0, 0.6, u).events[0]
    before, after = 0.01, 0.01

    def flow(x):
        step = simulate_step(system, start, x, before + after, u, met.time - before)
        assert len(step.events) == 1
        return step.state

    modes = system.modes
    x_start = flow_state(modes[start], met.time, met.state_before, u, -before)
    A_before, _ = flow_jacobians(modes[start], met.time - before, x_start, u, before)
    A_after, _ = flow_jacobians(modes[met.transition.target], met.time, met.state_after, u, after)
    jump = saltation(system, met.transition, met.time, met.state_before, u)
    expected = A_after @ jump.matrix @ A_before
    np.testing.assert_allclose(numerical_jacobian(flow, x_start), expected, atol=1e-6)
    wrong = A_after @ jump.reset_jacobian @ A_before
    assert np.max(abs(expected - wrong)) > 0.1


def test_grazing_is_a_status():
    found = saltation_matrix(
        np.diag([1.0, -1.0]), np.array([0.0, -9.8]), np.array([0.0, -9.8]), np.array([1.0, 0.0])
    )
    assert found.status == "not_transverse"
    np.testing.assert_array_equal(found.matrix, found.reset_jacobian)


def test_a_transition_to_nowhere_is_refused():
    system = bouncing_ball()
    with pytest.raises(ValueError, match="add the mode"):
        System({FALLING: system.modes[FALLING]}, system.transitions)
