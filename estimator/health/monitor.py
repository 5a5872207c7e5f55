"""Checks of the sensors, reading by reading: range, freeze, jump, and one against another.

A sensor is left out at once when its numbers are not finite, out of range, frozen, jumped or
contradicted, and trusted again `SOUND_TIME` after the last of that. A jump that stays is accepted
after `READMIT_TIME`. Readings apart by more than `LARGEST_GAP` are not compared.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from estimator.health.forces import judge_forces, judge_gravity
from estimator.health.motion import judge_attitude, judge_joints
from estimator.health.thresholds import (
    ACCELEROMETER_RANGE,
    FREEZE_TIME,
    JOINT_MARGIN,
    LARGEST_FORCE,
    LARGEST_GAP,
    LARGEST_JOINT_VELOCITY,
    LARGEST_RATE,
    LARGEST_TORQUE,
    LEAST_FORCE,
    LIVELY,
    LIVELY_TIME,
    MOST_REPEATS,
    NORM_ERROR,
    SOUND_TIME,
)
from estimator.record import Mask, Past, RobotRecord, forget_motion
from estimator.rows import (
    ACCELERATION,
    ACCELEROMETER,
    ATTITUDE_SENSOR,
    FIRST_SINGLE,
    FORCE,
    FORCE_SENSOR,
    GYRO,
    GYRO_SENSOR,
    JUDGED,
    POSITION,
    POSITION_SENSOR,
    ROW,
    TORQUE,
    TORQUE_SENSOR,
    VELOCITY,
    VELOCITY_SENSOR,
)
from robots.conventions import FOOT_NAMES, JOINT_NAMES
from robots.imu_units import accelerometer_doubt, gyroscope_doubt
from robots.rotations import Array

_MOTORS = tuple(name.removesuffix("_joint").replace("_", " ") for name in JOINT_NAMES)
_MEMBERS = {
    "orientation": ("",), "gyroscope": ("",), "accelerometer": ("",), "joint position": _MOTORS,
    "joint velocity": _MOTORS, "joint torque": _MOTORS, "foot force": FOOT_NAMES,
}  # fmt: skip
"""Of each group of sensors, in the order of `Past.sound`."""

AT_RAIL, BEYOND_RAIL = 0.999, 1.05
"""Of the accelerometer's range."""
_COUNTS = [4, 3, 3, 12, 12, 12, 4]
GROUP = np.repeat(np.arange(7), _COUNTS)
CHANGE = np.repeat([1e-6, 1e-5, 1e-4, 1e-6, 1e-4, 1e-3, 1e-2], _COUNTS)
"""(50) A change that counts, a hundredth of usual noise [SI]."""
SATURATED = 0.95
"""Of the torque limit, and of the accelerometer's range: from there a number may be constant."""


@njit(cache=True)
def judge(past: Past, robot: RobotRecord, row: Array, time: float) -> None:
    """Judge a reading's row (50, see `rows`) at its time [s]: writes `sound` and `faulty`.

    An accelerometer at its rail is left out for that reading and is no fault: a blow does that to a
    sound one.

    A reading as old as the last one, or without a time, is checked for its range only and
    forgotten.
    """
    bad = np.zeros(JUDGED, dtype=np.bool_)
    check_ranges(robot, row, bad)
    railed = at_rail(row)
    dt = time - past.clock
    if 0.0 < dt <= LARGEST_GAP:
        past.railed = past.railed + dt if railed else 0.0
        _compare(past, robot, row, dt, railed, bad)
    elif not (dt == 0.0 or np.isnan(time)):
        forget_motion(past, row)
        past.railed = 0.0
    if not (dt == 0.0 or np.isnan(time)):
        past.clock, past.row[:] = time, row
    elapsed = dt if dt > 0.0 else 0.0
    past.repeats = 0.0 if dt > 0.0 else past.repeats + 1.0
    for s in range(JUDGED):
        past.since[s] = 0.0 if bad[s] else past.since[s] + elapsed
    sound = past.since >= SOUND_TIME
    faulty = past.repeats >= MOST_REPEATS or not sound.all()
    if sound[ACCELEROMETER]:
        past.doubt[0] = 0.0
    if sound[GYRO_SENSOR]:
        past.doubt[1] = 0.0
    sound[ACCELEROMETER] = sound[ACCELEROMETER] and not railed
    past.sound[:], past.faulty = sound, 1.0 if faulty else 0.0


@njit(cache=True, inline="always")
def _compare(
    past: Past, robot: RobotRecord, row: Array, dt: float, railed: bool, bad: Mask
) -> None:
    """Everything that needs the reading before, and one sensor against another."""
    watch_stillness(past, robot, row, dt)
    for s in range(TORQUE_SENSOR, JUDGED):
        bad[s] = bad[s] or past.stuck[FIRST_SINGLE + s] > 0.0
    if past.stuck[ACCELERATION:POSITION].max() > 0.0 or past.railed > SOUND_TIME:
        bad[ACCELEROMETER] = True
    judge_attitude(past, row, dt, bad)
    judge_joints(past, robot, row, dt, bad)
    judge_gravity(past, row, bad)
    if not railed:
        judge_forces(past, robot, row, dt, bad)


def faults(past: Past) -> tuple[str, ...]:
    """Faults of the last reading, in words, with what to look at.

    A group of sensors of which all are left out is named once.
    """
    names: list[str] = []
    first = 0
    for group, members in _MEMBERS.items() if past.faulty else ():
        sound = past.sound[first : first + len(members)]
        bad = [f"{group} {member}" for member, ok in zip(members, sound, strict=True) if not ok]
        names += bad if sound.any() else [group]
        first += len(members)
    mean, turns = past.doubt.tolist()
    if mean and "accelerometer" in names:
        names[names.index("accelerometer")] = accelerometer_doubt(mean)
    if turns and "gyroscope" in names:
        names[names.index("gyroscope")] = gyroscope_doubt("turns otherwise than the attitude")
    if past.repeats >= MOST_REPEATS:
        names.append("time of the readings, which stands still: is the robot's clock running?")
    return tuple(names)


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


@njit(cache=True)
def watch_stillness(past: Past, robot: RobotRecord, row: Array, dt: float) -> None:
    """Advance `Past.run`, `lively` and `stuck` by `dt` [s] to the reading `row` (50).

    Numbers are stuck that stay equal to the last bit although they have just been changing. A robot
    without sensor noise that comes to rest has constant readings too; but they settle, so that
    their last changes are far too small to count.
    """
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
def _may_be_constant(robot: RobotRecord, row: Array, c: int) -> bool:
    """Whether a sound sensor may repeat this number."""
    value = abs(row[c])
    if POSITION <= c < VELOCITY:  # encoders have steps; their velocity tells, see `motion`
        return True
    if c < POSITION:
        return c >= ACCELERATION and value >= SATURATED * ACCELEROMETER_RANGE
    if TORQUE <= c < FORCE:
        return value == 0.0 or value >= SATURATED * robot.torque_limit[c - TORQUE]
    return c >= VELOCITY and value == 0.0  # at rest, or a foot in the air
