"""The plane of the ground around the robot, as its last footprints tell it.

Footprints are as rough as the ground and lie on a plane that is not steep: the most likely plane
z = c + a x + b y of points with a noise in z, and a normal prior of a and b around zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from robots.rotations import Array

ROUGHNESS = 0.02  # deviation of a footprint from the plane [m]
STEEPNESS = 0.3  # deviation of the plane's slope from level, along x or y [-]


class Plane(NamedTuple):
    """A plane through the footprints' centre and what is not certain of it.

    Attributes:
        centre: (3,) [m].
        slope: (2,) of the height along x and y [-].
        covariance: (2, 2) of the slope.
        variance: of the centre's height [m2].
    """

    centre: Array
    slope: Array
    covariance: Array
    variance: float


@njit(cache=True)
def plane_of(footprints: Array) -> Plane:
    """The plane of n footprints (n, 3) [m]."""
    n, centre = len(footprints), np.zeros(3)
    for k in range(n):
        centre += footprints[k] / n
    xx = yy = (ROUGHNESS / STEEPNESS) ** 2
    xy = xz = yz = 0.0
    for k in range(n):
        x, y, z = footprints[k] - centre
        xx, yy, xy = xx + x * x, yy + y * y, xy + x * y
        xz, yz = xz + x * z, yz + y * z
    scale = 1.0 / (xx * yy - xy * xy)
    inverse = scale * np.array([[yy, -xy], [-xy, xx]])
    slope = inverse @ np.array([xz, yz])
    return Plane(centre, slope, ROUGHNESS**2 * inverse, ROUGHNESS**2 / n)


@njit(cache=True)
def height_on(plane: Plane, x: float, y: float) -> tuple[float, float]:
    """Height of the ground at a place [m] and its variance [m2], roughness included."""
    dx, dy = x - plane.centre[0], y - plane.centre[1]
    height = plane.centre[2] + plane.slope[0] * dx + plane.slope[1] * dy
    S = plane.covariance
    tilt = S[0, 0] * dx * dx + 2.0 * S[0, 1] * dx * dy + S[1, 1] * dy * dy
    return height, plane.variance + tilt + ROUGHNESS**2
