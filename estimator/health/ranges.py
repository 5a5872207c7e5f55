"""Numbers that no sound sensor gives: not finite, or outside what there can be."""

from __future__ import annotations

import numpy as np
from numba import njit

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
from estimator.health.past import Mask
from estimator.health.thresholds import (
    ACCELEROMETER_RANGE,
    JOINT_MARGIN,
    LARGEST_FORCE,
    LARGEST_JOINT_VELOCITY,
    LARGEST_RATE,
    LARGEST_TORQUE,
    LEAST_FORCE,
    NORM_ERROR,
)
from estimator.record import RobotRecord
from robots.rotations import Array

AT_RAIL, BEYOND_RAIL = 0.999, 1.05


@njit(cache=True)
def check_ranges(robot: RobotRecord, row: Array, bad: Mask) -> None:
    """Set `bad` (43) where `row` (50) is impossible. Every comparison fails for NaN."""
    norm = np.sqrt((row[:4] * row[:4]).sum())
    bad[ATTITUDE_SENSOR] = not abs(norm - 1.0) < NORM_ERROR
    for axis in range(3):
        if not abs(row[GYRO + axis]) <= LARGEST_RATE:
            bad[GYRO_SENSOR] = True
        if not abs(row[ACCELERATION + axis]) <= BEYOND_RAIL * ACCELEROMETER_RANGE:
            bad[ACCELEROMETER] = True
    for i in range(12):
        low, high = robot.legs.lower[i] - JOINT_MARGIN, robot.legs.upper[i] + JOINT_MARGIN
        fastest = LARGEST_JOINT_VELOCITY * robot.velocity_limit[i]
        strongest = LARGEST_TORQUE * robot.torque_limit[i]
        bad[POSITION_SENSOR + i] = not low <= row[POSITION + i] <= high
        bad[VELOCITY_SENSOR + i] = not abs(row[VELOCITY + i]) <= fastest
        bad[TORQUE_SENSOR + i] = not abs(row[TORQUE + i]) <= strongest
    least, largest = -LEAST_FORCE * robot.weight, LARGEST_FORCE * robot.weight
    for foot in range(4):
        bad[FORCE_SENSOR + foot] = not least <= row[FORCE + foot] <= largest


@njit(cache=True)
def at_rail(row: Array) -> bool:
    """Whether an axis of the accelerometer shows its range's end, so that it is more or as much."""
    largest = np.abs(row[ACCELERATION : ACCELERATION + 3]).max()
    return largest >= AT_RAIL * ACCELEROMETER_RANGE
