"""A ball in a hollow tube, with a force on it in both directions (5.4.3).

State x = [y, z, dy/dt, dz/dt] [m, m/s], input u = [u_y, u_z] [N]. The tube is the circle
a(q) = r^2 - y^2 - z^2 >= 0 with J = D_q a = -2 q'. Impacts are plastic and without friction, so the
ball then slides on the circle, and leaves it where the tube would have to pull.

Here m d2q/dt2 = u - N + J' lambda with N = [0, m g], and the tube pushes while lambda > 0. The
print has errors: docs/errata.md.

UNCONSTRAINED and CONSTRAINED are the modes of 5.4.3. LEAVING is mode V of 3.6.1: on leaving, the
ball is on the circle and moves along it, so rounding alone would decide whether the impact guard
fires again. LEAVING has no impact; it ends where the ball first comes back towards the circle.
"""

from __future__ import annotations

import math

import numpy as np

from hybrid.hilqr.cost import QuadraticCost
from hybrid.hilqr.event_driven import EventDrivenModel
from hybrid.hilqr.event_linearisation import Placement
from hybrid.systems import Array, FlowMap, Mode, System, Transition

UNCONSTRAINED = 1  # 5.4.3; mode U of 3.6.1
CONSTRAINED = 2  # 5.4.3; mode S of 3.6.1
LEAVING = 3  # mode V of 3.6.1
APPROACH = 1e-9  # -da/dt at which a ball that has left counts as coming back [m^2/s]
MASS = 1.0  # [kg], 5.4
GRAVITY = 9.8  # [m/s^2], 5.4
RADIUS = 2.0  # [m], 5.4.3
START = (1.0, 0.0, 1.0, -1.0)  # 5.4.3 prints the position; the velocity is the project's own choice
TARGET = (-math.sqrt(3.0), -1.0, 0.0, 0.0)  # x_des, 5.4.3
INPUT_WEIGHT = 1e-4  # R / I at each timestep, 5.4.3
TERMINAL_WEIGHT = 100.0  # Q_N / I, 5.4.3
TIMESTEP = 1e-3  # [s], 5.4
STEPS = 1000  # N, 5.4


def impact(radius: float) -> Transition:
    """Plastic impact (3.67): the part of the velocity along q is lost."""

    def guard(t: float, x: Array, u: Array) -> float:
        return radius * radius - x[0] * x[0] - x[1] * x[1]

    def reset(t: float, x: Array, u: Array) -> Array:
        y, z, vy, vz = x[0], x[1], x[2], x[3]
        outward = (y * vy + z * vz) / (y * y + z * z)
        return np.array([y, z, vy - outward * y, vz - outward * z])

    return Transition(
        UNCONSTRAINED, CONSTRAINED, guard, reset, name="impact", time_invariant=True
    )


def liftoff(mass: float, gravity: float, radius: float) -> Transition:
    """Liftoff where the multiplier of (3.69), in our sign, falls through zero (3.70).

    J J' is 4 r^2 to the last digits, and written so the guard has no quotient.
    """

    def guard(t: float, x: Array, u: Array) -> float:
        y, z, vy, vz = x[0], x[1], x[2], x[3]
        force = y * u[0] + z * (u[1] - mass * gravity)
        return (force + mass * (vy * vy + vz * vz)) / (2.0 * radius * radius)

    return Transition.continuous(
        CONSTRAINED, LEAVING, guard, "liftoff", time_invariant=True
    )


def apex() -> Transition:
    """End of LEAVING: the distance to the circle has begun to fall (3.6.2)."""

    def guard(t: float, x: Array, u: Array) -> float:
        return -2.0 * (x[0] * x[2] + x[1] * x[3]) + APPROACH

    return Transition.continuous(
        LEAVING, UNCONSTRAINED, guard, "apex", time_invariant=True
    )


def tube_ball(mass: float = MASS, gravity: float = GRAVITY, radius: float = RADIUS) -> System:
    """Modes UNCONSTRAINED, CONSTRAINED and LEAVING; impact, liftoff and apex between them."""
    modes = {
        UNCONSTRAINED: _free("unconstrained", mass, gravity),
        CONSTRAINED: _constrained(mass, gravity, radius),
        LEAVING: _free("leaving", mass, gravity),
    }
    transitions = (impact(radius), liftoff(mass, gravity, radius), apex())
    return System(modes, transitions, "ball in a tube")


def tube_problem(
    timestep: float = TIMESTEP,
    input_weight: float = INPUT_WEIGHT,
    event_at: Placement = "end",
) -> EventDrivenModel:
    """Trajectory optimisation of 5.4.3, from START: be at rest at TARGET with little force.

    ``input_weight`` is R at one timestep; the same problem at another timestep keeps R / timestep.
    """
    cost = QuadraticCost.reaching(
        np.array(TARGET), input_weight * np.eye(2), TERMINAL_WEIGHT * np.eye(4)
    )
    return EventDrivenModel(tube_ball(), UNCONSTRAINED, timestep, cost, event_at=event_at)


def _free(name: str, mass: float, gravity: float) -> Mode:
    """Ballistic flow with direct inputs, (5.33) without a constraint."""

    def flow(t: float, x: Array, u: Array) -> Array:
        return np.array([x[2], x[3], u[0] / mass, u[1] / mass - gravity])

    def flow_state(t: float, x: Array, u: Array) -> Array:
        jacobian = np.zeros((4, 4))
        jacobian[0, 2] = jacobian[1, 3] = 1.0
        return jacobian

    def flow_input(t: float, x: Array, u: Array) -> Array:
        return np.array([[0.0, 0.0], [0.0, 0.0], [1.0 / mass, 0.0], [0.0, 1.0 / mass]])

    def solution(t: float, x: Array, u: Array, h: float) -> Array:
        a = u / mass - np.array([0.0, gravity])
        return np.concatenate((x[:2] + h * (x[2:] + 0.5 * h * a), x[2:] + h * a))

    def jacobians(t: float, x: Array, u: Array, h: float) -> tuple[Array, Array]:
        identity = np.eye(2)
        state = np.block([[identity, h * identity], [np.zeros((2, 2)), identity]])
        return state, np.vstack((0.5 * h * h * identity, h * identity)) / mass

    return Mode(name, 4, 2, flow, flow_state, flow_input, FlowMap(solution, jacobians))


def _constrained(mass: float, gravity: float, radius: float) -> Mode:
    """Flow that keeps J d2q/dt2 + dJ/dt dq/dt = 0 (3.59): (3.60) solved for d2q/dt2.

    With f = u - [0, m g] and the pull s = (q'f / m + |dq/dt|^2) / |q|^2 it is f / m - s q.
    """

    def flow(t: float, x: Array, u: Array) -> Array:
        y, z, vy, vz = x[0], x[1], x[2], x[3]
        fy, fz = u[0] / mass, u[1] / mass - gravity
        pull = (y * fy + z * fz + vy * vy + vz * vz) / (y * y + z * z)
        return np.array([vy, vz, fy - pull * y, fz - pull * z])

    def flow_state(t: float, x: Array, u: Array) -> Array:
        y, z, vy, vz = x[0], x[1], x[2], x[3]
        fy, fz, square = u[0] / mass, u[1] / mass - gravity, y * y + z * z
        pull = (y * fy + z * fz + vy * vy + vz * vz) / square
        by_y, by_z = (fy - 2.0 * pull * y) / square, (fz - 2.0 * pull * z) / square
        by_vy, by_vz = 2.0 * vy / square, 2.0 * vz / square
        return np.array(
            [
                [0.0, 0.0, 1.0, 0.0],
                [0.0, 0.0, 0.0, 1.0],
                [-pull - y * by_y, -y * by_z, -y * by_vy, -y * by_vz],
                [-z * by_y, -pull - z * by_z, -z * by_vy, -z * by_vz],
            ]
        )

    def flow_input(t: float, x: Array, u: Array) -> Array:
        y, z = x[0], x[1]
        square = mass * (y * y + z * z)
        return np.array(
            [
                [0.0, 0.0],
                [0.0, 0.0],
                [1.0 / mass - y * y / square, -y * z / square],
                [-y * z / square, 1.0 / mass - z * z / square],
            ]
        )

    return Mode("constrained", 4, 2, flow, flow_state, flow_input)
