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
