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

import numpy as np

from saltation.examples.bouncing_ball import GRAVITY, MASS
from saltation.systems import Array, FlowMap, Mode, System, Transition
from studies.kong.systems.complex_steps import mode

UNCONSTRAINED = 1  # 5.4.3; mode U of 3.6.1
CONSTRAINED = 2  # 5.4.3; mode S of 3.6.1
LEAVING = 3  # mode V of 3.6.1
APPROACH = 1e-9  # -da/dt at which a ball that has left counts as coming back [m^2/s]
RADIUS = 2.0  # [m], 5.4.3


def tube_ball() -> System:
    """Modes UNCONSTRAINED, CONSTRAINED and LEAVING; impact, liftoff and apex between them.

    - impact: plastic (3.67), the part of the velocity along q is lost.
    - liftoff: where the multiplier of (3.69), in our sign, falls through zero (3.70). J J' is 4 r^2
      to the last digits, and written so the guard has no quotient.
    - apex: the end of LEAVING, the distance to the circle has begun to fall (3.6.2).
    """

    def reset(t: float, x: Array, u: Array) -> Array:
        outward = (x[0] * x[2] + x[1] * x[3]) / (x[0] * x[0] + x[1] * x[1])
        return np.array([x[0], x[1], x[2] - outward * x[0], x[3] - outward * x[1]])

    def multiplier(t: float, x: Array, u: Array) -> float:
        force = x[0] * u[0] + x[1] * (u[1] - MASS * GRAVITY)
        return (force + MASS * (x[2] * x[2] + x[3] * x[3])) / (2.0 * RADIUS * RADIUS)

    impact = Transition(
        UNCONSTRAINED, CONSTRAINED, lambda t, x, u: RADIUS * RADIUS - x[0] * x[0] - x[1] * x[1],
        reset, name="impact", time_invariant=True
    )  # fmt: skip
    liftoff = Transition.continuous(
        CONSTRAINED, LEAVING, multiplier, "liftoff", time_invariant=True
    )
    apex = Transition.continuous(
        LEAVING, UNCONSTRAINED, lambda t, x, u: -2.0 * (x[0] * x[2] + x[1] * x[3]) + APPROACH,
        "apex", time_invariant=True
    )  # fmt: skip
    modes = {
        UNCONSTRAINED: _free("unconstrained"),
        CONSTRAINED: _constrained(),
        LEAVING: _free("leaving"),
    }
    return System(modes, (impact, liftoff, apex), "ball in a tube")


def _free(name: str) -> Mode:
    """Ballistic flow with direct inputs, (5.33) without a constraint."""

    def solution(t: float, x: Array, u: Array, h: float) -> Array:
        a = u / MASS - np.array([0.0, GRAVITY])
        return np.concatenate((x[:2] + h * (x[2:] + 0.5 * h * a), x[2:] + h * a))

    def jacobians(t: float, x: Array, u: Array, h: float) -> tuple[Array, Array]:
        by_start = np.eye(4)
        by_start[0, 2] = by_start[1, 3] = h
        return by_start, np.vstack((0.5 * h * h * np.eye(2), h * np.eye(2))) / MASS

    return mode(
        name, 4, 2, lambda t, x, u: np.array([x[2], x[3], u[0] / MASS, u[1] / MASS - GRAVITY]),
        FlowMap(solution, jacobians),
    )  # fmt: skip


def _constrained() -> Mode:
    """Flow that keeps J d2q/dt2 + dJ/dt dq/dt = 0 (3.59): (3.60) solved for d2q/dt2.

    With f = u - [0, m g] and the pull s = (q'f / m + |dq/dt|^2) / |q|^2 it is f / m - s q.
    """

    def flow(t: float, x: Array, u: Array) -> Array:
        y, z, vy, vz = x[0], x[1], x[2], x[3]
        fy, fz = u[0] / MASS, u[1] / MASS - GRAVITY
        pull = (y * fy + z * fz + vy * vy + vz * vz) / (y * y + z * z)
        return np.array([vy, vz, fy - pull * y, fz - pull * z])

    return mode("constrained", 4, 2, flow)
