"""Attitude and gyroscope, each judged by the other; joint positions and velocities likewise."""

from __future__ import annotations

import numpy as np
from numba import njit

from estimator.health.thresholds import (
    ATTITUDE_DRIFT,
    ATTITUDE_JUMP,
    ATTITUDE_SPREAD,
    ATTITUDE_STUCK,
    ATTITUDE_TIME,
    FASTEST_TURN,
    FREEZE_TIME,
    LARGEST_JOINT_VELOCITY,
    POSITION_DRIFT,
    POSITION_JUMP,
    POSITION_SPREAD,
    POSITION_START,
    POSITION_STUCK,
    POSITION_TIME,
    RATE_JUMP,
    READMIT_TIME,
    SOUND_TIME,
    TICK,
    VELOCITY_JUMP,
    VELOCITY_START,
)
from estimator.record import JOINT, LARGEST_SUM, Mask, Past, RobotRecord
from estimator.rows import (
    ACCELERATION,
    ATTITUDE_SENSOR,
    GYRO,
    GYRO_SENSOR,
    POSITION,
    POSITION_SENSOR,
    VELOCITY,
    VELOCITY_SENSOR,
)
from robots.rotations import Array, quaternion_product


@njit(cache=True, inline="always")
def judge_attitude(past: Past, row: Array, dt: float, bad: Mask) -> None:
    """Set `bad` (43) for attitude and gyroscope after a step of `dt` [s]."""
    rate, last = row[GYRO:ACCELERATION], past.row[GYRO:ACCELERATION]
    jump = np.sqrt(((rate - last) ** 2).sum())
    if jump > RATE_JUMP or past.stuck[GYRO:ACCELERATION].max() > 0.0:
        bad[GYRO_SENSOR] = True
    turn = (0.5 * (rate + last) if np.isfinite(last.sum()) else rate) * dt
    known = not bad[GYRO_SENSOR] and past.since[GYRO_SENSOR] >= SOUND_TIME
    change = rotation_between(past.row[:4], row[:4]) - turn
    _judge_drift(past, change, turn, known, dt, bad)
    _judge_attitude(past, row, change, turn, known, dt, bad)


@njit(cache=True)
def rotation_between(a: Array, b: Array) -> Array:
    """2 vec(a^-1 b) (3) [rad], which is the rotation vector while that is small."""
    conjugate = np.array([-a[0], -a[1], -a[2], a[3]])
    product = quaternion_product(conjugate, b)
    return (-2.0 if product[3] < 0.0 else 2.0) * product[:3]


@njit(cache=True)
def _judge_drift(past: Past, change: Array, turn: Array, known: bool, dt: float, bad: Mask) -> None:
    """Sum the turn of the attitude beyond the gyroscope's: one of them is wrong.

    An attitude that stays equal is; else the gyroscope, which then has an offset.
    """
    equal = past.run[:4].min() > 0.0
    if known and equal:
        past.carry[:JOINT] += turn
    elif not equal:
        past.carry[:JOINT] = 0.0
    if equal and np.abs(past.carry[:JOINT]).max() > ATTITUDE_STUCK:
        past.stuck[:4] = 1.0
    past.drift[:JOINT] *= max(0.0, 1.0 - dt / ATTITUDE_TIME)
    size = np.sqrt((change * change).sum())
    fair = size < ATTITUDE_JUMP  # false for NaN; a jump is the attitude's
    if fair and past.since[ATTITUDE_SENSOR] > 0.0:  # a step back from a fault tells nothing
        past.drift[:JOINT] += change
    limit = LARGEST_SUM * ATTITUDE_DRIFT
    for axis in range(3):
        past.drift[axis] = min(limit, max(-limit, past.drift[axis]))
    if attitude_is_stuck(past):
        past.drift[:JOINT] = 0.0
        bad[ATTITUDE_SENSOR] = True
    elif np.abs(past.drift[:JOINT]).max() > ATTITUDE_DRIFT:
        bad[GYRO_SENSOR] = True
        past.doubt[1] = 1.0


@njit(cache=True)
def _judge_attitude(
    past: Past, row: Array, change: Array, turn: Array, known: bool, dt: float, bad: Mask
) -> None:  # fmt: skip
    """The attitude against what it was and how far the body can have turned since."""
    grown = dt * (ATTITUDE_SPREAD if known else FASTEST_TURN)
    past.spread[0] += grown
    if known:
        half = np.array([0.5 * turn[0], 0.5 * turn[1], 0.5 * turn[2], 1.0])
        carried = quaternion_product(past.expected[:4], half)
        past.expected[:4] = carried / np.sqrt((carried * carried).sum())
    else:
        change = rotation_between(past.row[:4], row[:4])
    size = np.sqrt((change * change).sum())
    if bad[ATTITUDE_SENSOR] or not size <= ATTITUDE_JUMP + grown:
        past.consistent[0] = 0.0
    else:
        past.consistent[0] += dt
    away = rotation_between(past.expected[:4], row[:4])
    far = np.sqrt((away * away).sum()) > ATTITUDE_JUMP + past.spread[0]
    if far and past.consistent[0] < READMIT_TIME:
        bad[ATTITUDE_SENSOR] = True
    if not bad[ATTITUDE_SENSOR]:
        past.expected[:4], past.spread[0] = row[:4], 0.0


@njit(cache=True)
def attitude_is_stuck(past: Past) -> bool:
    """Whether all four numbers of the quaternion are equal and one of them should not be."""
    return past.run[:4].min() > 0.0 and past.stuck[:4].max() > 0.0


@njit(cache=True)
def judge_joints(past: Past, robot: RobotRecord, row: Array, dt: float, bad: Mask) -> None:
    """Set `bad` (43) for the joints' positions and velocities after a step of `dt` [s]."""
    for i in range(12):
        _judge_jump(past, row, i, dt, bad)
        speed = row[VELOCITY + i]
        if np.isfinite(past.row[VELOCITY + i]):
            speed = 0.5 * (speed + past.row[VELOCITY + i])
        _judge_motion(past, row, i, speed * dt, dt, bad)
        fastest = LARGEST_JOINT_VELOCITY * robot.velocity_limit[i]
        _judge_position(past, row, i, speed * dt, fastest, dt, bad)


@njit(cache=True)
def _trusted(past: Past, i: int, bad: Mask) -> bool:
    """Whether the joint's velocity may judge its position."""
    sensor = VELOCITY_SENSOR + i
    return not bad[sensor] and past.since[sensor] >= SOUND_TIME


@njit(cache=True)
def _judge_jump(past: Past, row: Array, i: int, dt: float, bad: Mask) -> None:
    """The velocity alone: frozen, or changed more than torque and blows can."""
    step = abs(row[VELOCITY + i] - past.row[VELOCITY + i])
    past.startled[i] = 0.0 if step > VELOCITY_START else past.startled[i] + dt
    if step > VELOCITY_JUMP or past.stuck[VELOCITY + i] > 0.0:
        bad[VELOCITY_SENSOR + i] = True


@njit(cache=True)
def _judge_motion(past: Past, row: Array, i: int, move: float, dt: float, bad: Mask) -> None:
    """Sum the position's change beyond the velocity's `move` [rad]: one of them is wrong.

    A position that stays equal is, unless the velocity is suspect; else the velocity is.
    """
    channel, sums = POSITION + i, JOINT + i
    change = _beyond(row[channel] - past.row[channel] - move, past, row, i, dt)
    suspect = past.since[VELOCITY_SENSOR + i] < SOUND_TIME
    equal = past.run[channel] > 0.0
    calm = not suspect and past.startled[i] >= POSITION_TIME
    if past.startled[i] == 0.0 and abs(change) > POSITION_START:
        bad[VELOCITY_SENSOR + i] = True
    if _trusted(past, i, bad):
        past.carry[sums] = past.carry[sums] + move if equal else 0.0
    elif not equal:
        past.carry[sums] = 0.0
    moved = abs(past.carry[sums]) > POSITION_STUCK
    if equal and calm and moved and past.run[channel] >= FREEZE_TIME:
        past.stuck[channel] = 1.0
    past.drift[sums] *= max(0.0, 1.0 - dt / POSITION_TIME)
    fair = abs(change) < POSITION_JUMP or (np.isfinite(change) and not calm)
    if fair and past.since[POSITION_SENSOR + i] > 0.0:  # a step back from a fault tells nothing
        limit = LARGEST_SUM * POSITION_DRIFT
        past.drift[sums] = min(limit, max(-limit, past.drift[sums] + change))
    if abs(past.drift[sums]) > POSITION_DRIFT and past.stuck[channel] == 0.0:
        if equal and calm:
            past.stuck[channel] = 1.0
        else:
            bad[VELOCITY_SENSOR + i] = True
    if past.stuck[channel] > 0.0:
        past.drift[sums] = 0.0
        bad[POSITION_SENSOR + i] = True


@njit(cache=True)
def _beyond(change: float, past: Past, row: Array, i: int, dt: float) -> float:
    """`change` less what a velocity that changed some time between two far readings explains."""
    explained = 0.5 * max(0.0, dt - TICK) * abs(row[VELOCITY + i] - past.row[VELOCITY + i])
    if abs(change) <= explained:
        return 0.0
    return change - explained if change > 0.0 else change + explained


@njit(cache=True)
def _judge_position(
    past: Past, row: Array, i: int, move: float, fastest: float, dt: float, bad: Mask
) -> None:  # fmt: skip
    """The position against where the joint was and how far it can have come since.

    It moves by `move` [rad] as the velocity says, and by `fastest` [rad/s] at most.
    """
    known = _trusted(past, i, bad)
    grown = dt * (POSITION_SPREAD if known else fastest)
    past.expected[4 + i] += move if known else 0.0
    past.spread[1 + i] += grown
    position = row[POSITION + i]
    step = position - past.row[POSITION + i] - (move if known else 0.0)
    if bad[POSITION_SENSOR + i] or not abs(step) <= POSITION_JUMP + grown:
        past.consistent[1 + i] = 0.0
    else:
        past.consistent[1 + i] += dt
    far = abs(position - past.expected[4 + i]) > POSITION_JUMP + past.spread[1 + i]
    if far and past.consistent[1 + i] < READMIT_TIME:
        bad[POSITION_SENSOR + i] = True
    if not bad[POSITION_SENSOR + i]:
        past.expected[4 + i], past.spread[1 + i] = position, 0.0
