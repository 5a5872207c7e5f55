"""Attitude and gyroscope, each judged by the other."""

from __future__ import annotations

import numpy as np
from numba import njit

from estimator.health.layout import ACCELERATION, ATTITUDE_SENSOR, GYRO, GYRO_SENSOR
from estimator.health.past import JOINT, LARGEST_SUM, Mask, Past
from estimator.health.stillness import attitude_is_stuck
from estimator.health.thresholds import (
    ATTITUDE_DRIFT,
    ATTITUDE_JUMP,
    ATTITUDE_SPREAD,
    ATTITUDE_STUCK,
    ATTITUDE_TIME,
    FASTEST_TURN,
    RATE_JUMP,
    READMIT_TIME,
    SOUND_TIME,
)
from robots.rotations import Array, quaternion_product


@njit(cache=True)
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
    """What the attitude turns beyond the gyroscope, summed: one of them is wrong.

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
