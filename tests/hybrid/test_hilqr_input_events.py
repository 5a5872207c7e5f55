"""Events whose guard and reset see the input, and events that a jump of the input sets off."""

import numpy as np
import pytest

from hybrid.hilqr import Policies, compose
from hybrid.hilqr.cost import QuadraticCost
from hybrid.hilqr.event_driven import EventDrivenModel
from hybrid.saltations import input_saltation, saltation
from hybrid.systems import Mode, System, Transition


def pressed_door():
    """A mass under a force that bursts through a door; the door gives way earlier when pushed."""
    free = Mode("free", 2, 1, lambda t, x, u: np.array([x[1], u[0] - 0.4 * x[1]]))
    stiff = Mode("behind", 2, 1, lambda t, x, u: np.array([x[1], u[0] - 3.0 * x[1] - x[0]]))
    burst = Transition(
        1,
        2,
        guard=lambda t, x, u: 1.0 - x[0] - 0.2 * u[0],
        reset=lambda t, x, u: np.array([x[0], 0.5 * x[1] + 0.1 * u[0] * u[0]]),
        name="burst",
        time_invariant=True,
    )
    return System({1: free, 2: stiff}, (burst,))


def problem(event_at):
    cost = QuadraticCost(np.zeros(2), np.eye(2), np.eye(1), np.eye(2))
    return EventDrivenModel(pressed_door(), 1, 0.1, cost, event_at=event_at)


def roll(model, x0, inputs):
    policies = Policies.of(np.zeros((len(inputs) + 1, 2)), inputs, np.zeros((len(inputs), 1, 2)))
    return model.roll_out(x0, policies).select(0)


def test_an_input_that_moves_the_guard_moves_the_state_after_the_event():
    model, x0 = problem("exact"), np.array([0.0, 1.0])
    inputs = 0.8 + 0.1 * np.sin(np.arange(12.0))[:, None]
    nominal = roll(model, x0, inputs)
    assert len(nominal.aux.events) == 1
    (event,) = nominal.aux.events
    A, B = compose(model.linearise(nominal))
    h, k = 1e-6, event.knot
    ends = []
    for sign in (1.0, -1.0):
        bumped = inputs.copy()
        bumped[k] += sign * h
        ends.append(roll(model, x0, bumped).states[k + 1])
    np.testing.assert_allclose((ends[0] - ends[1]) / (2 * h), B[k, :, 0], rtol=1e-6, atol=1e-8)
    without = [jump._replace(saltation_input=None) for jump in model.linearise(nominal).transitions]
    _, plain = compose(model.linearise(nominal)._replace(transitions=without))
    assert np.max(abs(plain[k] - B[k])) > 0.05


def test_a_guard_that_is_jumped_over_fires_whatever_the_state():
    """The input jumps from 0 to 3 at a knot: the guard is at -0.3 there, and Xi is D_x R."""
    model, x0 = problem("exact"), np.array([0.5, 0.4])
    inputs = np.array([[0.0], [0.0], [3.0], [0.0]])
    nominal = roll(model, x0, inputs)
    (event,) = nominal.aux.events
    assert event.knot == 2 and event.event.time == pytest.approx(0.2)
    jump = saltation(model.system, event.event.transition, 0.2, nominal.states[2], inputs[2])
    assert jump.status == "not_transverse"
    np.testing.assert_array_equal(jump.matrix, jump.reset_jacobian)
    A, B = compose(model.linearise(nominal))
    h = 1e-6
    for i in range(2):
        d = h * np.eye(2)[i]
        ends = [roll(model, x0 + sign * d, inputs).states[3] for sign in (1.0, -1.0)]
        slope = (ends[0] - ends[1]) / (2 * h)
        np.testing.assert_allclose(slope, (A[2] @ A[1] @ A[0])[:, i], rtol=1e-6, atol=1e-8)
    pushed = input_saltation(
        model.system, event.event.transition, 0.2, nominal.states[2], inputs[2]
    )
    np.testing.assert_allclose(pushed, [[0.0], [0.6]], atol=1e-9)
