"""A pose on the ground plane, an element of SE(2), and configurations in its axes."""

from __future__ import annotations

from math import atan2, cos, sin
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class PlanarPose(NamedTuple):
    """Position and heading in the world: x, y [m], yaw [rad]. Heights and tilts do not change."""

    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0

    @staticmethod
    def of(q: Array) -> PlanarPose:
        """Position and heading of a base with configuration `q` (19)."""
        x, y, z, w = q[3:7].tolist()
        yaw = atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        return PlanarPose(float(q[0]), float(q[1]), yaw)

    def to_local(self, q: Array) -> Array:
        """Configurations (..., 19) in the world's axes, in this pose's axes."""
        if not any(self):
            return q
        moved = q.copy()
        moved[..., :2] -= self[:2]
        _turn(moved, -self.yaw)
        return moved

    def to_world(self, q: Array) -> Array:
        """Configurations (..., 19) in this pose's axes, in the world's axes."""
        if not any(self):
            return q
        moved = q.copy()
        _turn(moved, self.yaw)
        moved[..., :2] += self[:2]
        return moved

    def points_to_world(self, points: Array) -> Array:
        """Points (..., 3) in this pose's axes, in the world's axes [m]."""
        if not any(self):
            return points
        moved = points.copy()
        _turn_points(moved, self.yaw)
        moved[..., :2] += self[:2]
        return moved


def _turn_points(points: Array, angle: float) -> None:
    """Turn points (..., 3 or more) about the vertical through the origin, in place."""
    c, s = cos(angle), sin(angle)
    x, y = points[..., 0].copy(), points[..., 1].copy()
    points[..., 0], points[..., 1] = c * x - s * y, s * x + c * y


def _turn(q: Array, angle: float) -> None:
    """Turn configurations (..., 19) about the vertical through the origin, in place."""
    _turn_points(q, angle)
    c, s = cos(0.5 * angle), sin(0.5 * angle)
    x, y, z, w = (q[..., i].copy() for i in range(3, 7))
    q[..., 3], q[..., 4] = c * x - s * y, c * y + s * x
    q[..., 5], q[..., 6] = c * z + s * w, c * w - s * z
