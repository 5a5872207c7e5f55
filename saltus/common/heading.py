"""Velocities of a robot in its heading frame."""

from __future__ import annotations

import numpy as np

from runtime.checked import Array
from runtime.messages import GroundTruth, StateEstimate


def motion_in_heading(state: GroundTruth | StateEstimate) -> Array:
    """Forward and left velocity in the heading frame [m/s] and yaw rate [rad/s] (3,)."""
    rotation = base_rotation(state.q[3:7])
    velocity, spin = rotation @ state.v[:3], rotation @ state.v[3:6]
    x, y = rotation[:2, 0] / np.hypot(*rotation[:2, 0])  # the heading
    return np.array((x * velocity[0] + y * velocity[1], x * velocity[1] - y * velocity[0], spin[2]))


def base_rotation(quaternion: Array) -> Array:
    """Rotation (3, 3) of a quaternion x, y, z, w; `robots.rotations` would load the compiler."""
    x, y, z, w = quaternion
    return np.array((
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    ))  # fmt: skip
