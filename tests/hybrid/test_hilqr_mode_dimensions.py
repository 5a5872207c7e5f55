"""Modes of different dimension: a ball that starts to store something when it meets a surface."""

import numpy as np
import pytest

from hybrid.hilqr import Policies, compose
from hybrid.hilqr.cost import QuadraticCost
from hybrid.hilqr.event_driven import EventDrivenModel
from hybrid.hilqr.tracking_cost import HybridReference, HybridTrackingCost
from hybrid.systems import Mode, System, Transition

FREE, SOAKED = 1, 2
H = 1e-6


def soaking_ball():
    """Two states and one input in the air; below the surface a third state and a second input."""

    def fall(t, x, u):
        return np.array([x[1], u[0] - 9.8])

    def soak(t, x, u):
        return np.array([x[1], u[0] - 2.0 * x[1] - 30.0 * x[0] + x[2], u[1] - x[2] * x[0] - x[1]])

    modes = {FREE: Mode("free", 2, 1, fall), SOAKED: Mode("soaked", 3, 2, soak)}
    surface = Transition(
        FREE,
        SOAKED,
        guard=lambda t, x, u: x[0],
        reset=lambda t, x, u: np.array([x[0], 0.8 * x[1], 0.1 * x[1] ** 2]),
        time_invariant=True,
    )
    leave = Transition(
        SOAKED,
        FREE,
        guard=lambda t, x, u: -x[0],
        reset=lambda t, x, u: np.array([x[0], x[1] + 0.1 * x[2]]),
        time_invariant=True,
    )
    return System(modes, (surface, leave))


def problem(event_at="exact", timestep=0.02):
    cost = QuadraticCost(
        np.array([0.5, 0.0, 0.3]), 0.1 * np.eye(3), 1e-3 * np.eye(2), np.diag([3.0, 1.0, 2.0])
    )
    return EventDrivenModel(soaking_ball(), FREE, timestep, cost, event_at=event_at)


def seed(inputs):
    steps = len(inputs)
    return Policies.of(np.zeros((steps + 1, 3)), inputs, np.zeros((steps, 2, 3)))


def roll(model, x0, inputs):
    rollouts = model.roll_out(x0, seed(inputs))
    assert rollouts.ok[0]
    return rollouts.select(0)


X0 = np.array([0.3, -1.0])
INPUTS = np.stack((np.sin(np.arange(40.0)), np.cos(np.arange(40.0))), axis=1)


def test_gradients_are_those_of_the_simulated_cost():
    model = problem()
    trajectory = roll(model, X0, INPUTS)
    A, B = compose(model.linearise(trajectory))
    expansion = model.quadratise(trajectory)
    adjoint, by_input = expansion.l_x[-1], np.empty_like(INPUTS)
    for k in range(len(A) - 1, -1, -1):
        by_input[k] = expansion.l_u[k] + B[k].T @ adjoint
        adjoint = expansion.l_x[k] + A[k].T @ adjoint
    for i in range(2):
        d = H * np.eye(2)[i]
        slope = (roll(model, X0 + d, INPUTS).cost - roll(model, X0 - d, INPUTS).cost) / (2 * H)
        assert adjoint[i] == pytest.approx(slope, rel=1e-6, abs=1e-6)
    for k in range(len(INPUTS)):
        for i in range(2):
            d = np.zeros_like(INPUTS)
            d[k, i] = H
            up, down = roll(model, X0, INPUTS + d).cost, roll(model, X0, INPUTS - d).cost
            assert by_input[k, i] == pytest.approx((up - down) / (2 * H), rel=1e-6, abs=1e-6)


def test_a_reference_is_extended_over_modes_of_other_dimension():
    model = problem()
    trajectory = roll(model, X0, INPUTS)
    reference = HybridReference(model.system, model.timestep, trajectory)
    opening = trajectory.aux.events[0].knot
    before = np.arange(opening - 3, opening + 1)
    backward, _ = reference.matching(1, SOAKED, before)
    assert backward.shape == (4, 3) and np.all(backward[:, 2] != 0.0)
    forward, _ = reference.matching(0, FREE, np.arange(opening + 1, opening + 5))
    assert np.all(forward[:, 0] < 0.0) and np.all(forward[:, 2] == 0.0)
    cost = HybridTrackingCost(reference, np.eye(3), np.eye(2), np.eye(3))
    assert cost.value(trajectory.states, trajectory.inputs, trajectory.aux) == 0.0
    shifted = roll(model, X0 + [0.02, 0.0], INPUTS)
    assert 0.0 < cost.value(shifted.states, shifted.inputs, shifted.aux) < 1.0
