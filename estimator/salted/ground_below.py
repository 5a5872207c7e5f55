"""The height of the known ground below the feet."""

from __future__ import annotations

from numba import njit

from estimator.salted.memory import Memory
from robots.a1.kinematics import foot_positions_in_base
from robots.rotations import rotation_from_quaternion
from robots.terrain import Ground, height_at


@njit(cache=True)
def look_below(m: Memory, ground: Ground) -> None:
    """Write the ground's height below each foot, where the state has it."""
    feet = m.q[:3] + foot_positions_in_base(m.q[7:]) @ rotation_from_quaternion(m.q[3:7]).T
    for i in range(4):
        m.ground[i] = height_at(ground, feet[i, 0], feet[i, 1])


@njit(cache=True)
def stand_on(m: Memory, ground: Ground, foot_radius: float) -> None:
    """Set the base so high that the lowest foot stands on the ground."""
    look_below(m, ground)
    feet = foot_positions_in_base(m.q[7:]) @ rotation_from_quaternion(m.q[3:7])[2]
    m.q[2] = foot_radius - (feet - m.ground).min()
