"""A planar quadcopter that perches on a round wall with two edges (5.4.4, 5.5.4).

State x = [y, z [m], theta [rad], and their rates], input u = [left, right thrust [N]]. The modes
are free flight, one edge sliding with friction, and both edges latched, from which there is no way
out: nothing moves and no input acts. After liftoff comes a mode of its own for the edge that still
moves away, the V of 3.6.1: it cannot strike the wall that it is just leaving, whatever the last
digit of its distance says, until it turns back.

Impacts are plastic along the normal alone: 5.4.4 gives friction by lambda_t = mu lambda_n for a
sliding edge and no impulse of it. The second edge to touch latches: both velocities end.
"""

from __future__ import annotations

from math import pi

import numpy as np

from hybrid.hilqr.cost import QuadraticCost
from hybrid.hilqr.event_driven import EventDrivenModel
from hybrid.hilqr.event_linearisation import Placement
from hybrid.hilqr.types import Policies
from hybrid.systems import Array, Mode, System
from studies.kong.systems.quadcopter_contact import (
    FREE,
    LATCHED,
    LEFT,
    LEFT_RELEASED,
    RIGHT,
    RIGHT_RELEASED,
    Body,
    free_acceleration,
    free_jacobians,
    impact,
    latch,
    liftoff,
    sliding_acceleration,
    sliding_jacobians,
    turn_back,
)

START = np.array([2.0, 2.5, -pi / 8, 4.0, 0.0, 0.0])  # x_0, 5.4.4
TARGET_ANGLE = -pi / 12  # of the perch on the wall [rad], 5.4.4
TIMESTEP = 0.002  # [s], 5.4.4
STEPS = 1000  # N, 5.4
INPUT_WEIGHT = 0.01  # R per step, 5.4.4
TERMINAL_WEIGHT = (1000.0, 1000.0, 1000.0, 0.1, 0.1, 0.1)  # diagonal of Q_N, 5.4.4
SEED_THRUST = 1.5  # both thrusters together [m g], 5.4.4
LATCHED_THRUST = 0.1  # once both edges touch [m g], 5.4.4


def quadcopter(body: Body | None = None) -> System:
    """The six modes and their transitions; ``body`` defaults to the thesis's."""
    body = body or Body()
    free, arm = _free_flow(body), 0.5 * body.width
    modes = {
        FREE: Mode("free", 6, 2, *free),
        LEFT: Mode("left edge sliding", 6, 2, *_sliding_flow(body, -arm)),
        RIGHT: Mode("right edge sliding", 6, 2, *_sliding_flow(body, arm)),
        LATCHED: Mode("latched", 6, 2, *_latched_flow()),
        LEFT_RELEASED: Mode("left edge released", 6, 2, *free),
        RIGHT_RELEASED: Mode("right edge released", 6, 2, *free),
    }
    transitions = (
        impact(FREE, LEFT, body, -arm),
        impact(FREE, RIGHT, body, arm),
        latch(LEFT, body, arm),
        latch(RIGHT, body, -arm),
        liftoff(LEFT, LEFT_RELEASED, body, -arm),
        liftoff(RIGHT, RIGHT_RELEASED, body, arm),
        impact(LEFT_RELEASED, RIGHT, body, arm),
        impact(RIGHT_RELEASED, LEFT, body, -arm),
        turn_back(LEFT_RELEASED, -arm),
        turn_back(RIGHT_RELEASED, arm),
    )
    return System(modes, transitions, "quadcopter")


def perch(body: Body | None = None, angle: float = TARGET_ANGLE) -> Array:
    """State (6,) at rest with both edges on the wall, ``angle`` [rad] from the y axis.

    This is x_des of 5.4.4, at the distance r = sqrt(25 - w^2 / 4) that puts both edges on a circle
    of radius 5. The print has an error: docs/errata.md.
    """
    body = body or Body()
    r = np.sqrt(body.radius**2 - 0.25 * body.width**2)
    return np.array([r * np.cos(angle), r * np.sin(angle), angle - 0.5 * pi, 0.0, 0.0, 0.0])


def quadcopter_problem(
    timestep: float = TIMESTEP,
    body: Body | None = None,
    event_at: Placement = "end",
) -> EventDrivenModel:
    """Trajectory optimisation of 5.4.4: reach the perch, at a cost on the thrusts alone.

    R = 0.01 a step of 2 ms; another ``timestep`` [s] scales it, so that the problem is the same.
    """
    cost = QuadraticCost.reaching(
        perch(body), INPUT_WEIGHT * timestep / TIMESTEP * np.eye(2), np.diag(TERMINAL_WEIGHT)
    )
    return EventDrivenModel(quadcopter(body), FREE, timestep, cost, event_at=event_at)


def quadcopter_seed(model: EventDrivenModel, steps: int, body: Body | None = None) -> Array:
    """Inputs (steps, 2) of the seed of 5.4.4: 1.5 m g in all, 0.1 m g once both edges touch."""
    body = body or Body()
    weight = body.mass * body.gravity
    inputs = np.full((steps, 2), 0.5 * SEED_THRUST * weight)
    states, gains = np.zeros((steps + 1, 6)), np.zeros((steps, 2, 6))
    rollouts = model.roll_out(START, Policies.of(states, inputs, gains))
    for knot, event in rollouts.select(0).aux.events:
        if event.transition.target == LATCHED:
            inputs[knot + 1 :] = 0.5 * LATCHED_THRUST * weight
    return inputs


def _free_flow(body: Body) -> tuple:
    def flow(t: float, x: Array, u: Array) -> Array:
        ay, az, turn = free_acceleration(x, u, body)
        return np.array([x[3], x[4], x[5], ay, az, turn])

    def flow_state(t: float, x: Array, u: Array) -> Array:
        return free_jacobians(x, u, body)[0]

    def flow_input(t: float, x: Array, u: Array) -> Array:
        return free_jacobians(x, u, body)[1]

    return flow, flow_state, flow_input


def _sliding_flow(body: Body, arm: float) -> tuple:
    def flow(t: float, x: Array, u: Array) -> Array:
        ay, az, turn, _ = sliding_acceleration(x, u, arm, body)
        return np.array([x[3], x[4], x[5], ay, az, turn])

    def flow_state(t: float, x: Array, u: Array) -> Array:
        return sliding_jacobians(x, u, arm, body)[0][:6].copy()

    def flow_input(t: float, x: Array, u: Array) -> Array:
        return sliding_jacobians(x, u, arm, body)[1][:6].copy()

    return flow, flow_state, flow_input


def _latched_flow() -> tuple:
    def flow(t: float, x: Array, u: Array) -> Array:
        return np.zeros(6)

    def flow_state(t: float, x: Array, u: Array) -> Array:
        return np.zeros((6, 6))

    def flow_input(t: float, x: Array, u: Array) -> Array:
        return np.zeros((6, 2))

    return flow, flow_state, flow_input
