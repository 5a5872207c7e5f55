"""Numbers that no sound sensor gives: not finite, or outside what there can be."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from estimator.health.layout import (
    ACCELERATION,
    ACCELEROMETER,
    ATTITUDE_SENSOR,
    FORCE,
    FORCE_SENSOR,
    GYRO,
    GYRO_SENSOR,
    POSITION,
    POSITION_SENSOR,
    TORQUE,
    TORQUE_SENSOR,
    VELOCITY,
    VELOCITY_SENSOR,
)
from estimator.health.options import MonitorOptions
from robots.a1.constants import JOINT_LOWER, JOINT_UPPER

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

AT_RAIL, BEYOND_RAIL = 0.999, 1.05


@njit(cache=True)
def check_ranges(row: Array, bad: Mask, th: MonitorOptions) -> None:
    """Set `bad` (43) where `row` (50) is impossible. Every comparison fails for NaN."""
    norm = np.sqrt((row[:4] * row[:4]).sum())
    bad[ATTITUDE_SENSOR] = not abs(norm - 1.0) < th.norm_error
    for axis in range(3):
        if not abs(row[GYRO + axis]) <= th.largest_rate:
            bad[GYRO_SENSOR] = True
        if not abs(row[ACCELERATION + axis]) <= BEYOND_RAIL * th.accelerometer_range:
            bad[ACCELEROMETER] = True
    for i in range(12):
        low, high = JOINT_LOWER[i] - th.joint_margin, JOINT_UPPER[i] + th.joint_margin
        bad[POSITION_SENSOR + i] = not low <= row[POSITION + i] <= high
        bad[VELOCITY_SENSOR + i] = not abs(row[VELOCITY + i]) <= th.largest_joint_velocity
        bad[TORQUE_SENSOR + i] = not abs(row[TORQUE + i]) <= th.largest_torque
    for foot in range(4):
        bad[FORCE_SENSOR + foot] = not -th.least_force <= row[FORCE + foot] <= th.largest_force


@njit(cache=True)
def at_rail(row: Array, th: MonitorOptions) -> bool:
    """Whether an axis of the accelerometer shows its range's end, so that it is more or as much."""
    largest = np.abs(row[ACCELERATION : ACCELERATION + 3]).max()
    return largest >= AT_RAIL * th.accelerometer_range
