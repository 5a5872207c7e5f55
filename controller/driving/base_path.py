"""The path of the base that a velocity command asks for, with bounded acceleration, compiled."""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from robots.rotations import Array

# Columns of a path: the base's place and heading in the world, and its velocity in the heading.
X, Y, YAW, FORWARD, LEFT, YAW_RATE, HEIGHT = range(7)
COLUMNS: Final = 7


@njit(cache=True)
def extend_path(path: Array, goal: Array, most: Array, period: float) -> None:
    """Write the rows of a path after its first one.

    Velocities and height go to their goals, each at a bounded rate and linearly between knots; the
    heading is its yaw rate's integral. The place is that of the velocity at the middle of each
    interval, along the heading there: exact to the second order in the period.

    Args:
        path: (K, 7) see the columns above; row 0 is where the base is.
        goal: (4) velocity forward and left [m/s], yaw rate [rad/s], height [m].
        most: (4) bounds of their rates of change.
        period: between rows [s].
    """
    for k in range(len(path) - 1):
        now, later = path[k], path[k + 1]
        for i in range(4):
            step = most[i] * period
            later[FORWARD + i] = now[FORWARD + i] + min(
                step, max(-step, goal[i] - now[FORWARD + i])
            )
        turn = 0.5 * (now[YAW_RATE] + later[YAW_RATE]) * period
        later[YAW] = now[YAW] + turn
        forward = 0.5 * (now[FORWARD] + later[FORWARD]) * period
        left = 0.5 * (now[LEFT] + later[LEFT]) * period
        c, s = np.cos(now[YAW] + 0.5 * turn), np.sin(now[YAW] + 0.5 * turn)
        later[X] = now[X] + c * forward - s * left
        later[Y] = now[Y] + s * forward + c * left


@njit(cache=True)
def pose_at(path: Array, knot: float) -> tuple[float, float, float]:
    """Return x, y [m] and yaw [rad] between the rows of a path; its ends hold."""
    place = min(max(knot, 0.0), len(path) - 1.0)
    k = min(int(place), len(path) - 2)
    s = place - k
    a, b = path[k], path[k + 1]
    return a[X] + s * (b[X] - a[X]), a[Y] + s * (b[Y] - a[Y]), a[YAW] + s * (b[YAW] - a[YAW])
