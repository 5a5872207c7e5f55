"""What the IMU's attitude says."""

import math

from numpy.typing import NDArray


def tilt_of(quaternion_wxyz: NDArray) -> float:
    """Angle between the trunk's z axis and the vertical [rad]; NaN for a quaternion of zeros."""
    w, x, y, z = quaternion_wxyz.tolist()
    square = w * w + x * x + y * y + z * z
    if square == 0.0:
        return math.nan
    return math.acos(min(1.0, max(-1.0, 1.0 - 2.0 * (x * x + y * y) / square)))
