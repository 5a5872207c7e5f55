"""Where the feet stand, and how they swing from foothold to foothold, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit

from controller.driving.base_path import HEIGHT, pose_at
from robots.rotations import Array

LAST_STANCE = 0.4  # [s] after a landing without another lift-off, for which its foothold is chosen


@njit(cache=True)
def choose_footholds(
    path: Array, start: int, period: float, swings: Array, neutral: Array, targets: Array,
) -> None:  # fmt: skip
    """Write the foothold that each swing leads to, in the world.

    It lies below the foot's neutral place at the middle of the stance that follows (Raibert's
    neutral point), with the heading there.

    Args:
        path: of the base, from knot `start` on.
        period: between knots [s].
        swings: (S, 4) foot, lift-off, landing [knots], height [m], by lift-off.
        neutral: (4, 3) of the feet, below the standing base, z of the ground [m].
        targets: (S, 3) becomes the footholds [m].
    """
    for s in range(len(swings)):
        foot, landing = int(swings[s, 0]), swings[s, 2]
        leaves = landing + 2.0 * LAST_STANCE / period
        for later in range(s + 1, len(swings)):
            if int(swings[later, 0]) == foot:
                leaves = swings[later, 1]
                break
        x, y, yaw = pose_at(path, 0.5 * (landing + leaves) - start)
        c, sine = np.cos(yaw), np.sin(yaw)
        targets[s, 0] = x + c * neutral[foot, 0] - sine * neutral[foot, 1]
        targets[s, 1] = y + sine * neutral[foot, 0] + c * neutral[foot, 1]
        targets[s, 2] = neutral[foot, 2]


@njit(cache=True)
def place_feet(
    knot: float, period: float, swings: Array, targets: Array, holds: Array, feet: Array,
    speeds: Array, standing: Array,
) -> None:  # fmt: skip
    """Write where the feet are at a knot, how fast they are, and which of them stand.

    A swing is a minimum-jerk motion over the ground and a bump above it.

    Args:
        knot: may lie between two.
        period: between knots [s].
        swings: (S, 4) foot, lift-off, landing [knots], height [m], by lift-off.
        targets: (S, 3) the footholds that they lead to [m].
        holds: (4, 3) the footholds before the first swing [m].
        feet, speeds: (4, 3) [m], [m/s] in the world; standing: (4) 1 on the ground.
    """
    feet[:] = holds
    speeds[:] = 0.0
    standing[:] = 1.0
    for s in range(len(swings)):
        foot, lift, landing = int(swings[s, 0]), swings[s, 1], swings[s, 2]
        # A knot that is an event's, but for rounding, comes after it.
        if knot < lift - 1e-7:
            break
        if knot >= landing - 1e-7:
            feet[foot] = targets[s]
            continue
        duration = landing - lift
        u = max(0.0, (knot - lift) / duration)
        r = u * (1.0 - u)
        way = u * u * u * (10.0 + u * (6.0 * u - 15.0))
        slope = 30.0 * r * r / (duration * period)
        for i in range(3):
            reach = targets[s, i] - feet[foot, i]
            feet[foot, i] += way * reach
            speeds[foot, i] = slope * reach
        feet[foot, 2] += swings[s, 3] * 64.0 * r**3
        speeds[foot, 2] += swings[s, 3] * 192.0 * r * r * (1.0 - 2.0 * u) / (duration * period)
        standing[foot] = 0.0


@njit(cache=True)
def feet_in_base(feet: Array, speeds: Array, base: Array, height_rate: float, out: Array) -> None:
    """Write places and velocities of the feet relative to a level base, in its axes.

    Args:
        feet, speeds: (4, 3) in the world.
        base: (7) row of a path; height_rate: of its height [m/s].
        out: (2, 4, 3) [m], [m/s].
    """
    c, s = np.cos(base[2]), np.sin(base[2])
    for foot in range(4):
        x, y = feet[foot, 0] - base[0], feet[foot, 1] - base[1]
        out[0, foot, 0], out[0, foot, 1] = c * x + s * y, -s * x + c * y
        out[0, foot, 2] = feet[foot, 2] - base[HEIGHT]
        u, v = speeds[foot, 0], speeds[foot, 1]
        out[1, foot, 0] = c * u + s * v - base[3] + base[5] * out[0, foot, 1]
        out[1, foot, 1] = -s * u + c * v - base[4] - base[5] * out[0, foot, 0]
        out[1, foot, 2] = speeds[foot, 2] - height_rate
