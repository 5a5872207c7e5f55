"""The height of the ground below the feet: as it is known, or as their footprints let expect."""

from __future__ import annotations

import numpy as np
from numba import njit

from estimator.salted.memory import HEIGHT, TRUST, VARIANCE, Memory
from robots.a1.kinematics import foot_positions_in_base
from robots.footprints import height_on, plane_of
from robots.rotations import Array, rotation_from_quaternion
from robots.terrain import Ground, height_at

HOLDING = 0.5
"""Trust from which a foot leaves a footprint."""


def is_level(ground: Ground) -> bool:
    """Whether the ground is a level floor of known height."""
    return bool(np.isfinite(ground.floor)) and not ground.centre.size and not ground.grid.size


@njit(cache=True)
def look_below(m: Memory, ground: Ground, foot_radius: float) -> None:
    """Write footprints, and the ground's height below each foot, where the state has them."""
    feet = _feet(m)
    for i in range(4):
        if m.contact[TRUST, i] > HOLDING:
            m.footprint[i] = feet[i]
            m.footprint[i, 2] -= foot_radius
        m.ground[HEIGHT, i] = height_at(ground, feet[i, 0], feet[i, 1])
        m.ground[VARIANCE, i] = 0.0
    if np.isnan(ground.floor):
        plane = plane_of(m.footprint)
        for i in range(4):
            m.ground[HEIGHT, i], m.ground[VARIANCE, i] = height_on(plane, feet[i, 0], feet[i, 1])


@njit(cache=True)
def stand_on(m: Memory, ground: Ground, foot_radius: float) -> None:
    """Set the base so high that the lowest foot stands on the ground, z = 0 where it is unknown."""
    feet = _feet(m)
    height = -np.inf
    for i in range(4):
        below = height_at(ground, feet[i, 0], feet[i, 1])
        m.footprint[i] = feet[i]
        m.footprint[i, 2] = 0.0 if np.isnan(below) else below
        height = max(height, m.footprint[i, 2] + foot_radius - (feet[i, 2] - m.q[2]))
    m.q[2] = height


@njit(cache=True)
def _feet(m: Memory) -> Array:
    """Centres of the feet (4, 3) [m]."""
    return m.q[:3] + foot_positions_in_base(m.q[7:]) @ rotation_from_quaternion(m.q[3:7]).T
