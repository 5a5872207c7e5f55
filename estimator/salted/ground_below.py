"""The plane of the ground at each foot: as it is known, or as the footprints let expect."""

from __future__ import annotations

import numpy as np
from numba import njit

from estimator.salted.memory import LEVEL, TRUST, VARIANCE, Memory
from robots.footprints import height_on, plane_of
from robots.legs import Legs, foot_positions_in_base
from robots.rotations import Array, rotation_from_quaternion
from robots.terrain import Ground, height_at, nearest_surface

HOLDING = 0.5
"""Trust from which a foot leaves a footprint."""


def is_level(ground: Ground) -> bool:
    """Whether the ground is a level floor of known height."""
    return bool(np.isfinite(ground.floor)) and not ground.centre.size and not ground.grid.size


@njit(cache=True)
def look_below(m: Memory, legs: Legs, ground: Ground) -> None:
    """Write footprints, and the plane of the ground at each foot, where the state has them."""
    feet = _feet(m, legs)
    for i in range(4):
        if m.contact[TRUST, i] > HOLDING:
            m.footprint[i] = feet[i] - legs.foot_radius * m.normal[i]
    if np.isnan(ground.floor):
        _expect_plane(m, feet)
        return
    for i in range(4):
        x, y, z = feet[i]
        distance, nx, ny, nz = nearest_surface(ground, x, y, z)
        m.normal[i, 0], m.normal[i, 1], m.normal[i, 2] = nx, ny, nz
        m.ground[LEVEL, i] = nx * x + ny * y + nz * z - distance
        m.ground[VARIANCE, i] = 0.0


@njit(cache=True)
def _expect_plane(m: Memory, feet: Array) -> None:
    """Write the plane of the footprints, and its variance at the feet (4, 3)."""
    plane = plane_of(m.footprint)
    a, b = plane.slope
    nz = 1.0 / np.sqrt(1.0 + a * a + b * b)
    for i in range(4):
        height, variance = height_on(plane, feet[i, 0], feet[i, 1])
        m.normal[i, 0], m.normal[i, 1], m.normal[i, 2] = -a * nz, -b * nz, nz
        m.ground[LEVEL, i] = nz * (height - a * feet[i, 0] - b * feet[i, 1])
        m.ground[VARIANCE, i] = nz * nz * variance


@njit(cache=True)
def stand_on(m: Memory, legs: Legs, ground: Ground) -> None:
    """Set the base so high that the lowest foot stands on the ground, z = 0 where it is unknown."""
    feet = _feet(m, legs)
    height = -np.inf
    for i in range(4):
        below = height_at(ground, feet[i, 0], feet[i, 1])
        m.footprint[i] = feet[i]
        m.footprint[i, 2] = 0.0 if np.isnan(below) else below
        height = max(height, m.footprint[i, 2] + legs.foot_radius - (feet[i, 2] - m.q[2]))
    m.q[2] = height


@njit(cache=True)
def _feet(m: Memory, legs: Legs) -> Array:
    """Centres of the feet (4, 3) [m]."""
    return m.q[:3] + foot_positions_in_base(legs, m.q[7:]) @ rotation_from_quaternion(m.q[3:7]).T
