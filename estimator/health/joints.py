"""Joint positions and velocities, each judged by the other."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from estimator.health.layout import POSITION, POSITION_SENSOR, VELOCITY, VELOCITY_SENSOR
from estimator.health.options import MonitorOptions
from estimator.health.past import JOINT, LARGEST_SUM, Past

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@njit(cache=True)
def judge_joints(past: Past, row: Array, dt: float, bad: Mask, th: MonitorOptions) -> None:
    """Set `bad` (43) for the joints' positions and velocities after a step of `dt` [s]."""
    for i in range(12):
        _judge_jump(past, row, i, dt, bad, th)
        speed = row[VELOCITY + i]
        if np.isfinite(past.row[VELOCITY + i]):
            speed = 0.5 * (speed + past.row[VELOCITY + i])
        _judge_motion(past, row, i, speed * dt, dt, bad, th)
        _judge_position(past, row, i, speed * dt, dt, bad, th)


@njit(cache=True)
def _trusted(past: Past, i: int, bad: Mask, th: MonitorOptions) -> bool:
    """Whether the joint's velocity may judge its position."""
    sensor = VELOCITY_SENSOR + i
    return not bad[sensor] and past.since[sensor] >= th.sound_time


@njit(cache=True)
def _judge_jump(past: Past, row: Array, i: int, dt: float, bad: Mask, th: MonitorOptions) -> None:
    """The velocity alone: frozen, or changed more than torque and blows can."""
    step = abs(row[VELOCITY + i] - past.row[VELOCITY + i])
    past.startled[i] = 0.0 if step > th.velocity_start else past.startled[i] + dt
    if step > th.velocity_jump or past.stuck[VELOCITY + i] > 0.0:
        bad[VELOCITY_SENSOR + i] = True


@njit(cache=True)
def _judge_motion(
    past: Past, row: Array, i: int, move: float, dt: float, bad: Mask, th: MonitorOptions
) -> None:
    """What the position does beyond the velocity's `move` [rad], summed: one of them is wrong.

    A position that stays equal is, unless the velocity is suspect; else the velocity is.
    """
    channel, sums = POSITION + i, JOINT + i
    change = _beyond(row[channel] - past.row[channel] - move, past, row, i, dt, th)
    suspect = past.since[VELOCITY_SENSOR + i] < th.sound_time
    equal = past.run[channel] > 0.0
    calm = not suspect and past.startled[i] >= th.position_time
    if past.startled[i] == 0.0 and abs(change) > th.position_start:
        bad[VELOCITY_SENSOR + i] = True
    if _trusted(past, i, bad, th):
        past.carry[sums] = past.carry[sums] + move if equal else 0.0
    elif not equal:
        past.carry[sums] = 0.0
    moved = abs(past.carry[sums]) > th.position_stuck
    if equal and calm and moved and past.run[channel] >= th.freeze_time:
        past.stuck[channel] = 1.0
    past.drift[sums] *= max(0.0, 1.0 - dt / th.position_time)
    fair = abs(change) < th.position_jump or (np.isfinite(change) and not calm)
    if fair and past.since[POSITION_SENSOR + i] > 0.0:  # a step back from a fault tells nothing
        limit = LARGEST_SUM * th.position_drift
        past.drift[sums] = min(limit, max(-limit, past.drift[sums] + change))
    if abs(past.drift[sums]) > th.position_drift and past.stuck[channel] == 0.0:
        if equal and calm:
            past.stuck[channel] = 1.0
        else:
            bad[VELOCITY_SENSOR + i] = True
    if past.stuck[channel] > 0.0:
        past.drift[sums] = 0.0
        bad[POSITION_SENSOR + i] = True


@njit(cache=True)
def _beyond(change: float, past: Past, row: Array, i: int, dt: float, th: MonitorOptions) -> float:
    """`change` less what a velocity that changed some time between two far readings explains."""
    explained = 0.5 * max(0.0, dt - th.tick) * abs(row[VELOCITY + i] - past.row[VELOCITY + i])
    if abs(change) <= explained:
        return 0.0
    return change - explained if change > 0.0 else change + explained


@njit(cache=True)
def _judge_position(
    past: Past, row: Array, i: int, move: float, dt: float, bad: Mask, th: MonitorOptions
) -> None:
    """The position against where the joint was and how far it can have come since."""
    known = _trusted(past, i, bad, th)
    grown = dt * (th.position_spread if known else th.largest_joint_velocity)
    past.expected[4 + i] += move if known else 0.0
    past.spread[1 + i] += grown
    position = row[POSITION + i]
    step = position - past.row[POSITION + i] - (move if known else 0.0)
    if bad[POSITION_SENSOR + i] or not abs(step) <= th.position_jump + grown:
        past.consistent[1 + i] = 0.0
    else:
        past.consistent[1 + i] += dt
    far = abs(position - past.expected[4 + i]) > th.position_jump + past.spread[1 + i]
    if far and past.consistent[1 + i] < th.readmit_time:
        bad[POSITION_SENSOR + i] = True
    if not bad[POSITION_SENSOR + i]:
        past.expected[4 + i], past.spread[1 + i] = position, 0.0
