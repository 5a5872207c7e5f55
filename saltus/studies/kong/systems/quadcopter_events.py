"""What ends each mode of the perching quadcopter: impact, latch, liftoff, turning back (5.4.4)."""

from __future__ import annotations

import numpy as np

from hybrid.systems import Array, Transition
from saltus.studies.kong.systems.quadcopter_contact import (
    Body,
    gap,
    gap_rate,
    plastic_impact,
    sliding_acceleration,
)

FREE, LEFT, RIGHT, LATCHED, LEFT_RELEASED, RIGHT_RELEASED = 1, 2, 3, 4, 5, 6
_RETURN_RATE = 1e-7  # gap rate at which a released edge counts as coming back [m^2/s]


def impact(source: int, target: int, body: Body, arm: float) -> Transition:
    """First edge on the wall: the velocity into it ends, (3.67)."""
    radius = body.radius

    def reset(t: float, x: Array, u: Array) -> Array:
        vy, vz, turn = plastic_impact(x, arm, body)
        return np.array([x[0], x[1], x[2], vy, vz, turn])

    return Transition(
        source,
        target,
        guard=lambda t, x, u: gap(x, arm, radius),
        reset=reset,
        name="impact",
        time_invariant=True,
    )


def latch(source: int, body: Body, arm: float) -> Transition:
    """Second edge on the wall: all velocity ends."""
    radius = body.radius
    return Transition(
        source,
        LATCHED,
        guard=lambda t, x, u: gap(x, arm, radius),
        reset=lambda t, x, u: np.array([x[0], x[1], x[2], 0.0, 0.0, 0.0]),
        name="latch",
        time_invariant=True,
    )


def liftoff(source: int, target: int, body: Body, arm: float) -> Transition:
    """The wall would have to pull: lambda falls through zero, (3.71). It depends on the input."""
    return Transition.continuous(
        source,
        target,
        lambda t, x, u: sliding_acceleration(x, u, arm, body)[3],
        "liftoff",
        time_invariant=True,
    )


def turn_back(source: int, arm: float) -> Transition:
    """The apex of 3.6.2: a released edge has begun to come back."""
    return Transition.continuous(
        source,
        FREE,
        lambda t, x, u: gap_rate(x, arm) + _RETURN_RATE,
        "turn back",
        time_invariant=True,
    )
