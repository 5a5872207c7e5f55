"""Numbers that stay equal to the last bit although they have just been changing.

A robot without sensor noise that comes to rest has constant readings too; but they settle, so that
their last changes are far too small to count.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from estimator.health.layout import ACCELERATION, FORCE, POSITION, ROW, TORQUE, VELOCITY
from estimator.health.past import Past
from estimator.health.thresholds import (
    ACCELEROMETER_RANGE,
    FREEZE_TIME,
    LIVELY,
    LIVELY_TIME,
)
from estimator.record import RobotRecord
from robots.rotations import Array

GROUP = np.repeat(np.arange(7), [4, 3, 3, 12, 12, 12, 4])
CHANGE = np.repeat([1e-6, 1e-5, 1e-4, 1e-6, 1e-4, 1e-3, 1e-2], [4, 3, 3, 12, 12, 12, 4])
"""(50) A change that counts, a hundredth of usual noise [SI]."""
SATURATED = 0.95


@njit(cache=True)
def watch_stillness(past: Past, robot: RobotRecord, row: Array, dt: float) -> None:
    """Advance `Past.run`, `lively` and `stuck` by `dt` [s] to the reading `row` (50)."""
    blend = min(1.0, dt / LIVELY_TIME)
    moves = np.zeros(7)
    for c in range(ROW):
        change = abs(row[c] - past.row[c])
        counts = 1.0 if change > CHANGE[c] else 0.0
        if counts > 0.0:
            moves[GROUP[c]] = 1.0
        past.lively[c] += blend * (counts - past.lively[c])
        past.run[c] = past.run[c] + dt if change == 0.0 else 0.0
        if past.run[c] == 0.0:
            past.stuck[c] = 0.0
    for c in range(ROW):
        others = moves.sum() - moves[GROUP[c]]
        still = past.run[c] >= FREEZE_TIME and past.lively[c] > LIVELY
        if still and others > 0.0 and not _may_be_constant(robot, row, c):
            past.stuck[c] = 1.0
    if past.run.min() >= FREEZE_TIME and past.stuck.max() > 0.0:
        past.stuck[:] = 1.0  # the same packet again and again


@njit(cache=True)
def attitude_is_stuck(past: Past) -> bool:
    """Whether all four numbers of the quaternion are equal and one of them should not be."""
    return past.run[:4].min() > 0.0 and past.stuck[:4].max() > 0.0


@njit(cache=True)
def _may_be_constant(robot: RobotRecord, row: Array, c: int) -> bool:
    """Whether a sound sensor repeats this number: see the reasons, one by one."""
    value = abs(row[c])
    if POSITION <= c < VELOCITY:  # encoders have steps; their velocity tells, see `joints`
        return True
    if c < POSITION:
        return c >= ACCELERATION and value >= SATURATED * ACCELEROMETER_RANGE
    if TORQUE <= c < FORCE:
        return value == 0.0 or value >= SATURATED * robot.torque_limit[c - TORQUE]
    return c >= VELOCITY and value == 0.0  # at rest, or a foot in the air
