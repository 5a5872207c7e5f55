"""Footholds, paths of swings, and the plane below the trunk, compiled."""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from controller.driving.course import FORWARD, LEFT, YAW_RATE, pose_at
from robots.rotations import Array
from robots.terrain import Ground, height_at
from robots.vectors import apply_transposed, cross, minus, triple

MOST_LIFT = 0.2  # of a swing over what is in its way, beside its usual height [m]
CLEARANCE = 3.0  # of a swing over ground that is not known, in standard deviations of its height
EDGE_DISTANCE = 0.035  # from an edge at which a foot stands well [m]
EDGE_WEIGHT = 10.0  # of an edge's height against the distance of a foothold from its neutral point
SEARCH = (2, 0.03)  # steps to either side, and their length [m], in which a better one is sought
LAST_STANCE = 0.4  # [s] after a landing without another lift-off, for which its foothold is chosen
EVERY: Final = 10  # knots between two fits; planes are linear between them
ALONG: Final = (0.35, 31)  # half the length of what a fit sees [m], and its samples
ACROSS: Final = (0.25, 5)  # half the width [m], and its samples


@njit(cache=True)
def choose_footholds(
    path: Array, start: int, period: float, swings: Array, neutral: Array, ground: Ground,
    holds: Array, targets: Array,
) -> None:  # fmt: skip
    """Write the foothold that each swing leads to, in the world, and how high it swings.

    It lies below the foot's neutral place at the middle of the stance that follows (Raibert's
    neutral point), with the heading there, or beside that where an edge is near. The height of a
    swing grows by what the ground on its way rises above the straight line between its footholds.

    Args:
        path: of the base, from knot `start` on.
        period: between knots [s].
        swings: (S, 4) foot, lift-off, landing [knots], height [m], by lift-off; heights grow.
        neutral: (4, 3) of the feet, below the standing base, z above the ground [m].
        ground: below them.
        holds: (4, 3) the footholds before the first swing [m].
        targets: (S, 3) becomes the footholds [m].
    """
    last = holds.copy()
    rough = len(ground.centre) > 0 or ground.grid.size > 0
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
        if rough:
            avoid_edges(ground, targets[s])
            targets[s, 2] += height_at(ground, targets[s, 0], targets[s, 1])
            swings[s, 3] += rise_between(ground, last[foot], targets[s], neutral[foot, 2])
        last[foot] = targets[s]


@njit(cache=True)
def avoid_edges(ground: Ground, hold: Array) -> None:
    """Move a foothold (3,), x and y, to the best place around it, in place."""
    steps, length = SEARCH
    best, x, y = np.inf, hold[0], hold[1]
    for i in range(-steps, steps + 1):
        for j in range(-steps, steps + 1):
            away = length * np.sqrt(i * i + j * j)
            if away >= best:
                continue
            edge = edge_at(ground, x + i * length, y + j * length)
            if away + EDGE_WEIGHT * edge < best:
                best = away + EDGE_WEIGHT * edge
                hold[0], hold[1] = x + i * length, y + j * length


@njit(cache=True)
def edge_at(ground: Ground, x: float, y: float) -> float:
    """Distance of the ground around a place from a plane through it [m]; 0 on a slope."""
    most, middle, d = 0.0, height_at(ground, x, y), EDGE_DISTANCE
    for dx, dy in ((d, 0.0), (0.0, d), (0.7 * d, 0.7 * d), (0.7 * d, -0.7 * d)):
        bend = height_at(ground, x + dx, y + dy) + height_at(ground, x - dx, y - dy) - 2.0 * middle
        most = max(most, abs(bend))
    return most


@njit(cache=True)
def rise_between(ground: Ground, start: Array, end: Array, height: float) -> float:
    """Height that a swing needs beside its usual one to pass over the ground on its way [m].

    More where the ground is not known.

    Args:
        ground: below it; start, end: footholds (3,) [m].
        height: of a foot's centre above the ground on which it stands [m].
    """
    most = 0.0
    for i in range(13):
        u = 0.2 + 0.05 * i
        r = u * (1.0 - u)
        way = u * u * u * (10.0 + u * (6.0 * u - 15.0))
        x, y = start[0] + way * (end[0] - start[0]), start[1] + way * (end[1] - start[1])
        line = start[2] + way * (end[2] - start[2])
        most = max(most, (height_at(ground, x, y) + height - line) / (64.0 * r**3))
    return min(most + CLEARANCE * ground.roughness, MOST_LIFT)


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
def feet_in_base(
    feet: Array, speeds: Array, base: Array, height: float, height_rate: float, T: Array,
    spin: Array, out: Array,
) -> None:  # fmt: skip
    """Write places and velocities of the feet relative to the base, in its axes.

    Args:
        feet, speeds: (4, 3) in the world.
        base: (7) row of a path; height: of the base in the world [m]; height_rate: its rate [m/s].
        T: (3, 3) the base's axes as columns, in the level axes of its heading.
        spin: (3) angular velocity of the base against those, in its own axes [rad/s].
        out: (2, 4, 3) [m], [m/s].
    """
    c, s = np.cos(base[2]), np.sin(base[2])
    for foot in range(4):
        x, y = feet[foot, 0] - base[0], feet[foot, 1] - base[1]
        x, y = c * x + s * y, -s * x + c * y
        u, v = speeds[foot, 0], speeds[foot, 1]
        u, v = c * u + s * v - base[3] + base[5] * y, -s * u + c * v - base[4] - base[5] * x
        place = apply_transposed(T, (x, y, feet[foot, 2] - height))
        speed = apply_transposed(T, (u, v, speeds[foot, 2] - height_rate))
        out[0, foot], out[1, foot] = place, minus(speed, cross(triple(spin), place))


@njit(cache=True)
def fit_planes(path: Array, start: int, period: float, ground: Ground, planes: Array) -> None:
    """Write the plane below the base at each row of a path; zeros on a level floor.

    Args:
        path: (K, 7) see `extend_path`.
        start: knot of its first row; fits are made at fixed knots, so that windows agree.
        period: between knots [s].
        ground: below it.
        planes: (K, 3) height below the base [m], slope along the heading and to the left [-].
    """
    planes[:] = 0.0
    if len(ground.centre) == 0 and ground.grid.size == 0:
        return
    first = start - start % EVERY
    before, after = np.empty(3), np.empty(3)
    node = first
    fit_plane(path, node - start, period, ground, after)
    for k in range(len(path)):
        while start + k >= node:
            before[:] = after
            node += EVERY
            fit_plane(path, node - start, period, ground, after)
        share = (start + k - node + EVERY) / EVERY
        planes[k] = before + share * (after - before)


@njit(cache=True)
def fit_plane(path: Array, knot: float, period: float, ground: Ground, plane: Array) -> None:
    """Write the plane (3,) of the least weighted squares around the base at a knot.

    Weights fall to zero at the border of what is seen, so that the plane changes gradually where an
    edge comes into it. A knot before the path's first is one that the base came from.
    """
    x, y, yaw = pose_at(path, knot)
    c, s = np.cos(yaw), np.sin(yaw)
    if knot < 0.0:
        time, now = knot * period, path[0]
        x += time * (c * now[FORWARD] - s * now[LEFT])
        y += time * (s * now[FORWARD] + c * now[LEFT])
        yaw += time * now[YAW_RATE]
    total = height = along = along_squares = across = across_squares = 0.0
    for i in range(ALONG[1]):
        u = (2.0 * i + 1.0) / ALONG[1] - 1.0
        for j in range(ACROSS[1]):
            v = (2.0 * j + 1.0) / ACROSS[1] - 1.0
            weight, a, b = (1.0 - u * u) * (1.0 - v * v), ALONG[0] * u, ACROSS[0] * v
            z = height_at(ground, x + c * a - s * b, y + s * a + c * b)
            total += weight
            height += weight * z
            along += weight * a * z
            along_squares += weight * a * a
            across += weight * b * z
            across_squares += weight * b * b
    plane[:] = height / total, along / along_squares, across / across_squares


@njit(cache=True)
def tilt_of(plane: Array) -> tuple[float, float]:
    """Pitch and roll [rad] of a trunk whose z axis is a plane's normal; pitch turns first."""
    b, c = plane[1], plane[2]
    return -np.arctan(b), np.arcsin(c / np.sqrt(1.0 + b * b + c * c))
