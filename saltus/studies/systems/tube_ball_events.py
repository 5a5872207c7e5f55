"""Events of a ball in a hollow tube: plastic impact, liftoff, and the end of leaving (5.4.3)."""

from __future__ import annotations

import numpy as np

from hybrid.systems import Array, Transition

UNCONSTRAINED = 1  # 5.4.3; mode U of 3.6.1
CONSTRAINED = 2  # 5.4.3; mode S of 3.6.1
LEAVING = 3  # mode V of 3.6.1
APPROACH = 1e-9  # -da/dt at which a ball that has left counts as coming back [m^2/s]


def impact(radius: float) -> Transition:
    """Plastic impact (3.67): the part of the velocity along q is lost."""

    def guard(t: float, x: Array, u: Array) -> float:
        return radius * radius - x[0] * x[0] - x[1] * x[1]

    def guard_state(t: float, x: Array, u: Array) -> Array:
        return np.array([-2.0 * x[0], -2.0 * x[1], 0.0, 0.0])

    def reset(t: float, x: Array, u: Array) -> Array:
        y, z, vy, vz = x[0], x[1], x[2], x[3]
        outward = (y * vy + z * vz) / (y * y + z * z)
        return np.array([y, z, vy - outward * y, vz - outward * z])

    def reset_state(t: float, x: Array, u: Array) -> Array:
        y, z, vy, vz = x[0], x[1], x[2], x[3]
        square = y * y + z * z
        out = (y * vy + z * vz) / square
        by_y, by_z = (vy - 2.0 * out * y) / square, (vz - 2.0 * out * z) / square
        return np.array(
            [
                [1.0, 0.0, 0.0, 0.0],
                [0.0, 1.0, 0.0, 0.0],
                [-out - y * by_y, -y * by_z, 1.0 - y * y / square, -y * z / square],
                [-z * by_y, -out - z * by_z, -y * z / square, 1.0 - z * z / square],
            ]
        )

    return Transition(
        UNCONSTRAINED, CONSTRAINED, guard, reset, guard_state, reset_state,
        name="impact", time_invariant=True,
    )  # fmt: skip


def liftoff(mass: float, gravity: float, radius: float) -> Transition:
    """Liftoff where the multiplier of (3.69), in our sign, falls through zero (3.70).

    J J' is 4 r^2 to the last digits, and written so the guard has no quotient.
    """

    def guard(t: float, x: Array, u: Array) -> float:
        y, z, vy, vz = x[0], x[1], x[2], x[3]
        force = y * u[0] + z * (u[1] - mass * gravity)
        return (force + mass * (vy * vy + vz * vz)) / (2.0 * radius * radius)

    def guard_state(t: float, x: Array, u: Array) -> Array:
        gradient = np.array([u[0], u[1] - mass * gravity, 2.0 * mass * x[2], 2.0 * mass * x[3]])
        return gradient / (2.0 * radius * radius)

    return Transition(
        CONSTRAINED, LEAVING, guard, _unchanged, guard_state, _identity,
        name="liftoff", time_invariant=True,
    )  # fmt: skip


def apex() -> Transition:
    """End of LEAVING: the distance to the circle has begun to fall (3.6.2)."""

    def guard(t: float, x: Array, u: Array) -> float:
        return -2.0 * (x[0] * x[2] + x[1] * x[3]) + APPROACH

    def guard_state(t: float, x: Array, u: Array) -> Array:
        return np.array([-2.0 * x[2], -2.0 * x[3], -2.0 * x[0], -2.0 * x[1]])

    return Transition(
        LEAVING, UNCONSTRAINED, guard, _unchanged, guard_state, _identity,
        name="apex", time_invariant=True,
    )  # fmt: skip


def _unchanged(t: float, x: Array, u: Array) -> Array:
    return x.copy()


def _identity(t: float, x: Array, u: Array) -> Array:
    return np.eye(4)
