"""Judges the sensors reading by reading: range, freeze, jump, and one against another.

A sensor is left out at once when its numbers are not finite, out of range, frozen, jumped or
contradicted, and trusted again `SOUND_TIME` after the last of that. A jump that stays is believed
after `READMIT_TIME`. Readings apart by more than `LARGEST_GAP` are not compared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from estimator.health.attitude import judge_attitude
from estimator.health.forces import judge_forces, judge_gravity
from estimator.health.joints import judge_joints
from estimator.health.layout import (
    ACCELERATION,
    ACCELEROMETER,
    ATTITUDE_SENSOR,
    FIRST_SINGLE,
    FORCE_SENSOR,
    GYRO_SENSOR,
    POSITION,
    POSITION_SENSOR,
    SENSORS,
    TORQUE_SENSOR,
    VELOCITY_SENSOR,
)
from estimator.health.past import Mask, Past, forget_motion
from estimator.health.ranges import at_rail, check_ranges
from estimator.health.stillness import watch_stillness
from estimator.health.thresholds import LARGEST_GAP, MOST_REPEATS, SOUND_TIME
from estimator.record import RobotRecord
from robots.conventions import FOOT_NAMES, JOINT_NAMES
from robots.imu_units import accelerometer_doubt, gyroscope_doubt
from robots.rotations import Array

_MOTORS = tuple(name.removesuffix("_joint").replace("_", " ") for name in JOINT_NAMES)


class Health(NamedTuple):
    """Which sensors of one reading may be used.

    `any_fault` is true while a sensor is left out because it is faulty. An accelerometer at its
    rail is left out for that reading and is no fault: a blow does that to a sound one.
    """

    orientation: bool
    gyroscope: bool
    accelerometer: bool
    joint_position: Mask  # (12)
    joint_velocity: Mask  # (12)
    joint_torque: Mask  # (12)
    foot_force: Mask  # (4)
    any_fault: bool


@njit(cache=True)
def judge(past: Past, robot: RobotRecord, row: Array, time: float) -> Health:
    """Judge a reading's row (50, see `layout`) at its time [s].

    A reading as old as the last one, or without a time, is checked for its range only and
    forgotten.
    """
    bad = np.zeros(SENSORS, dtype=np.bool_)
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
    for s in range(SENSORS):
        past.since[s] = 0.0 if bad[s] else past.since[s] + elapsed
    sound = past.since >= SOUND_TIME
    faulty = past.repeats >= MOST_REPEATS or not sound.all()
    if sound[ACCELEROMETER]:
        past.doubt[0] = 0.0
    if sound[GYRO_SENSOR]:
        past.doubt[1] = 0.0
    sound[ACCELEROMETER] = sound[ACCELEROMETER] and not railed
    past.sound[:], past.faulty = sound, 1.0 if faulty else 0.0
    return verdict(past)


@njit(cache=True)
def verdict(past: Past) -> Health:
    """The verdict on the last reading; nothing is at fault before the first."""
    sound = past.sound > 0.0
    return Health(
        sound[ATTITUDE_SENSOR],
        sound[GYRO_SENSOR],
        sound[ACCELEROMETER],
        sound[POSITION_SENSOR:VELOCITY_SENSOR],
        sound[VELOCITY_SENSOR:TORQUE_SENSOR],
        sound[TORQUE_SENSOR:FORCE_SENSOR],
        sound[FORCE_SENSOR:SENSORS],
        past.faulty > 0.0,
    )


@njit(cache=True)
def _compare(
    past: Past, robot: RobotRecord, row: Array, dt: float, railed: bool, bad: Mask
) -> None:
    """Everything that needs the reading before, and one sensor against another."""
    watch_stillness(past, robot, row, dt)
    for s in range(TORQUE_SENSOR, SENSORS):
        bad[s] = bad[s] or past.stuck[FIRST_SINGLE + s] > 0.0
    if past.stuck[ACCELERATION:POSITION].max() > 0.0 or past.railed > SOUND_TIME:
        bad[ACCELEROMETER] = True
    judge_attitude(past, row, dt, bad)
    judge_joints(past, robot, row, dt, bad)
    judge_gravity(past, row, bad)
    if not railed:
        judge_forces(past, robot, row, dt, bad)


def faults(past: Past) -> tuple[str, ...]:
    """What is wrong with the last reading, in words: `fault_names`, with what to look at."""
    names = list(fault_names(verdict(past)))
    mean, turns = past.doubt.tolist()
    if mean and "accelerometer" in names:
        names[names.index("accelerometer")] = accelerometer_doubt(mean)
    if turns and "gyroscope" in names:
        names[names.index("gyroscope")] = gyroscope_doubt("turns otherwise than the attitude")
    if past.repeats >= MOST_REPEATS:
        names.append("time of the readings, which stands still: is the robot's clock running?")
    return tuple(names)


def fault_names(health: Health) -> tuple[str, ...]:
    """The sensors that are left out, in words; a group of which all are is named once."""
    if not health.any_fault:
        return ()
    names = [
        name
        for name, sound in (
            ("orientation", health.orientation),
            ("gyroscope", health.gyroscope),
            ("accelerometer", health.accelerometer),
        )
        if not sound
    ]
    names += _named("joint position", health.joint_position, _MOTORS)
    names += _named("joint velocity", health.joint_velocity, _MOTORS)
    names += _named("joint torque", health.joint_torque, _MOTORS)
    names += _named("foot force", health.foot_force, FOOT_NAMES)
    return tuple(names)


def _named(group: str, sound: Mask, members: tuple[str, ...]) -> list[str]:
    if not sound.any():
        return [group]
    return [f"{group} {members[i]}" for i in np.flatnonzero(~sound)]
