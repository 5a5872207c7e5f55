"""What leg odometry and the invariant filter do with a reading before and after their own part."""

from __future__ import annotations

import numpy as np
from numba import njit

from estimator.health.layout import FORCE, POSITION, TORQUE, VELOCITY
from estimator.health.monitor import judge
from estimator.record import (
    CONTACT,
    DEGRADED,
    DIVERGED,
    OK,
    SENSORS,
    STARTING,
    STATUS,
    TIME,
    Memory,
    Q,
    RobotRecord,
    V,
)
from robots.rotations import Array

LARGEST_NUMBER = 1e6


@njit(cache=True)
def take_in(m: Memory, robot: RobotRecord, reading: Array, estimate: Array) -> bool:
    """Judge a reading's row and write an estimate's tick, time, status and joints, if it is usable.

    Returns whether it is. A filter takes a usable reading as it is, also one with a sensor at
    fault.
    """
    row, time = reading[SENSORS:], reading[TIME]
    faulty = judge(m.past, robot, row, time).any_fault
    estimate[:Q] = reading[:SENSORS]
    if usable(row) and np.isfinite(time):
        estimate[STATUS] = DEGRADED if faulty else OK
        estimate[Q + 7 : V] = row[POSITION:VELOCITY]
        estimate[V + 6 : CONTACT] = row[VELOCITY:TORQUE]
        return True
    m.divergences += 1.0
    estimate[STATUS] = STARTING if np.isnan(m.time) else DIVERGED
    return False


@njit(cache=True)
def usable(row: Array) -> bool:
    """Whether a row (50) is finite but for torques, of possible size, its quaternion near unity."""
    for i in range(len(row)):
        if not (TORQUE <= i < FORCE or abs(row[i]) < LARGEST_NUMBER):
            return False
    norm = np.sqrt((row[:4] * row[:4]).sum())
    return 0.9 < norm < 1.1


@njit(cache=True)
def lose(m: Memory, estimate: Array) -> None:
    """A filter that has a state begins anew where that is; one without begins at its place."""
    if not np.isnan(m.time):
        m.divergences += 1.0
        m.place[:], estimate[STATUS] = estimate[Q : Q + 2], DIVERGED
