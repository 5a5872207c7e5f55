"""A ball on a floor, with elastic impacts and a force on it (5.4.1).

State x = [height z [m], velocity [m/s]], input u = [force [N]]. The apex is a virtual event: its
saltation matrix is the identity, and it makes falling and rising two modes.
"""

from __future__ import annotations

import numpy as np

from saltation.arrays import Pair
from saltation.hilqr.cost import QuadraticCost
from saltation.hilqr.event_driven import EventDrivenModel
from saltation.hilqr.event_linearisation import Placement
from saltation.systems import Array, FlowMap, Mode, System, Transition

FALLING = 1
RISING = 2
MASS = 1.0  # [kg], 5.4
GRAVITY = 9.8  # [m/s^2], 5.4
RESTITUTION = 0.75  # not in 5.4.1; the project's own choice
INPUT_WEIGHT = 0.5  # times the timestep: R = 5e-7 / dt at dt = 1 ms, 5.4.1
TERMINAL_WEIGHT = 100.0  # 5.4.1


def bouncing_ball(restitution: float = RESTITUTION) -> System:
    """Modes FALLING and RISING with ballistic flow (5.35), impact and apex between them."""

    def flow(t: float, x: Array, u: Array) -> Array:
        return np.array([x[1], u[0] / MASS - GRAVITY])

    def solution(t: float, x: Array, u: Array, h: float) -> Array:
        a = u[0] / MASS - GRAVITY
        return np.array([x[0] + h * (x[1] + 0.5 * h * a), x[1] + h * a])

    def jacobians(t: float, x: Array, u: Array, h: float) -> Pair:
        return np.array([[1.0, h], [0.0, 1.0]]), np.array([[0.5 * h * h], [h]]) / MASS

    impact = Transition(
        FALLING,
        RISING,
        guard=lambda t, x, u: x[0],
        guard_state=lambda t, x, u: np.array([1.0, 0.0]),
        reset=lambda t, x, u: np.array([x[0], -restitution * x[1]]),
        reset_state=lambda t, x, u: np.array([[1.0, 0.0], [0.0, -restitution]]),
        name="impact",
        time_invariant=True,
    )
    apex = Transition.continuous(
        RISING,
        FALLING,
        guard=lambda t, x, u: x[1],
        guard_state=lambda t, x, u: np.array([0.0, 1.0]),
        name="apex",
        time_invariant=True,
    )
    derivatives = (
        lambda t, x, u: np.array([[0.0, 1.0], [0.0, 0.0]]),
        lambda t, x, u: np.array([[0.0], [1.0 / MASS]]),
        FlowMap(solution, jacobians),
    )
    falling, rising = (Mode(name, 2, 1, flow, *derivatives) for name in ("falling", "rising"))
    return System({FALLING: falling, RISING: rising}, (impact, apex), "bouncing ball")


def bouncing_ball_problem(
    target_height: float = 1.0, timestep: float = 1e-3, event_at: Placement = "end"
) -> EventDrivenModel:
    """Trajectory optimisation of 5.4.1: come to rest at a height [m] with little force.

    The runtime cost is on the input alone, R = 0.5 dt a knot, and Q_N = 100 I.
    """
    cost = QuadraticCost.reaching(
        np.array([target_height, 0.0]),
        np.array([[INPUT_WEIGHT * timestep]]),
        TERMINAL_WEIGHT * np.eye(2),
    )
    return EventDrivenModel(bouncing_ball(), FALLING, timestep, cost, event_at=event_at)
