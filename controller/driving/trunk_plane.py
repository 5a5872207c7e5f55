"""The plane over the ground below a driven robot that its trunk follows, compiled."""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from controller.driving.base_path import FORWARD, LEFT, YAW_RATE, pose_at
from robots.rotations import Array
from robots.terrain import Ground, height_at

EVERY: Final = 10  # knots between two fits; planes are linear between them
ALONG: Final = (0.35, 31)  # half the length of what a fit sees [m], and its samples
ACROSS: Final = (0.25, 5)  # half the width [m], and its samples


@njit(cache=True)
def fit_planes(path: Array, start: int, period: float, ground: Ground, planes: Array) -> None:
    """Write the plane below the base at each row of a path; zeros on a level floor.

    Args:
        path: (K, 7) see `base_path`.
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
    plane[0], plane[1], plane[2] = height / total, along / along_squares, across / across_squares


@njit(cache=True)
def tilt_of(plane: Array) -> tuple[float, float]:
    """Pitch and roll [rad] of a trunk whose z axis is a plane's normal; pitch turns first."""
    b, c = plane[1], plane[2]
    return -np.arctan(b), np.arcsin(c / np.sqrt(1.0 + b * b + c * c))
