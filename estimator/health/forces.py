"""Accelerometer, joint torques and foot sensors, which measure the same forces.

The torques of a leg less what turns its rotors, through the leg's Jacobian, are the force on its
foot. The four forces move the body as the accelerometer says. Where two of the three agree, the
third is wrong.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from estimator.health.thresholds import (
    BODY_FORCE,
    FASTEST_LEG,
    FORCE_TIME,
    FREEZE_TIME,
    GRAVITY_TIME,
    HEAVY_LOAD,
    LEAST_GRAVITY,
    LEG_FORCE,
    MOST_GRAVITY,
    SILENT_FORCE,
    STOP_DISTANCE,
    TICK,
)
from estimator.record import BODY, LARGEST_SUM, LEG, VERTICAL, Mask, Past, RobotRecord
from estimator.rows import (
    ACCELERATION,
    ACCELEROMETER,
    ATTITUDE_SENSOR,
    FORCE,
    FORCE_SENSOR,
    POSITION,
    POSITION_SENSOR,
    TORQUE,
    TORQUE_SENSOR,
    VELOCITY,
    VELOCITY_SENSOR,
)
from robots.legs import cross, foot_jacobians_in_base
from robots.rotations import Array, rotation_from_quaternion


@njit(cache=True, inline="always")
def judge_forces(past: Past, robot: RobotRecord, row: Array, dt: float, bad: Mask) -> None:
    """Set `bad` (43) for foot sensors, torques and accelerometer after a step of `dt` [s]."""
    blend = min(1.0, dt / FORCE_TIME)
    past.force[:] *= 1.0 - blend
    rotation = rotation_from_quaternion(past.expected[:4])
    forces, known = _forces_of_legs(past, robot, row, rotation, dt, bad)
    for leg in range(4):
        if known[leg] and not bad[FORCE_SENSOR + leg]:
            heavy = HEAVY_LOAD * robot.weight
            past.force[LEG + leg] += blend * _contradiction(row[FORCE + leg], forces[leg, 2], heavy)
    if known.all() and not bad[ACCELEROMETER]:
        acceleration = rotation @ row[ACCELERATION:POSITION]
        past.force[:VERTICAL] += blend * (acceleration - forces.sum(axis=0) / robot.mass)
        measured = row[FORCE : FORCE + 4].sum() / robot.mass
        if not bad[FORCE_SENSOR : FORCE_SENSOR + 4].any():
            past.force[VERTICAL] += blend * (acceleration[2] - measured)
    for k in range(8):
        limit = LARGEST_SUM * (LEG_FORCE * robot.weight if k >= LEG else BODY_FORCE)
        past.force[k] = min(limit, max(-limit, past.force[k]))
    _decide(past, robot, row, bad)


@njit(cache=True)
def judge_gravity(past: Past, row: Array, bad: Mask) -> None:
    """Set `bad` (43) where the accelerometer's mean over `gravity_time` cannot be gravity.

    A reading counts for one tick, however long after the last one it came.
    """
    if not (bad[ACCELEROMETER] or bad[ATTITUDE_SENSOR]):
        past.watched += TICK
        acceleration = rotation_from_quaternion(row[:4]) @ row[ACCELERATION:POSITION]
        blend = TICK / min(past.watched, GRAVITY_TIME)
        past.gravity[:] += blend * (acceleration - past.gravity)
    mean = np.sqrt((past.gravity * past.gravity).sum())
    long = past.watched >= 0.5 * GRAVITY_TIME
    if long and not LEAST_GRAVITY <= mean <= MOST_GRAVITY:
        bad[ACCELEROMETER] = True
        if past.doubt[0] == 0.0:
            past.doubt[0] = mean


@njit(cache=True)
def _contradiction(foot: float, leg: float, heavy: float) -> float:
    """Difference between a foot's sensor and its leg's torques [N]; half where both are `heavy`.

    In a hard landing the leg's inertia bears a part of the force.
    """
    return (foot - leg) / (1.0 + min(abs(foot), abs(leg)) / heavy)


@njit(cache=True, inline="always")
def _forces_of_legs(
    past: Past, robot: RobotRecord, row: Array, rotation: Array, dt: float, bad: Mask
) -> tuple[Array, Mask]:
    """Force on each foot in world axes (4, 3) [N], and which of them are known (4).

    J' f = armature ddq - tau; J' f = b is solved by the columns' cross products.
    """
    forces, known = np.zeros((4, 3)), np.zeros(4, dtype=np.bool_)
    jacobians = foot_jacobians_in_base(robot.legs, past.expected[4:16])
    for leg in range(4):
        if not _leg_tells(past, robot, row, leg, bad):
            continue
        first = 3 * leg
        speed = row[VELOCITY + first : VELOCITY + first + 3]
        last = past.row[VELOCITY + first : VELOCITY + first + 3]
        a, b, c = jacobians[leg, :, 0], jacobians[leg, :, 1], jacobians[leg, :, 2]
        determinant = (a * cross(b, c)).sum()
        if not (abs(determinant) > robot.singular and np.isfinite(last.sum())):
            continue
        armature = robot.armature[first : first + 3]
        load = armature * (speed - last) / dt - row[TORQUE + first : TORQUE + first + 3]
        solved = load[0] * cross(b, c) + load[1] * cross(c, a) + load[2] * cross(a, b)
        forces[leg] = rotation @ (solved / determinant)
        known[leg] = True
    return forces, known


@njit(cache=True)
def _leg_tells(past: Past, robot: RobotRecord, row: Array, leg: int, bad: Mask) -> bool:
    """Whether a leg's sensors are sound, its motors bear its force, and it hardly accelerates."""
    for i in range(3 * leg, 3 * leg + 3):
        if bad[VELOCITY_SENSOR + i] or bad[TORQUE_SENSOR + i] or bad[POSITION_SENSOR + i]:
            return False
        angle = past.expected[4 + i]
        room = min(angle - robot.legs.lower[i], robot.legs.upper[i] - angle)
        if room < STOP_DISTANCE or abs(row[VELOCITY + i]) > FASTEST_LEG:
            return False
    return True


@njit(cache=True)
def _silent(past: Past, row: Array, first: int, last: int) -> bool:
    """Whether the row's numbers from `first` to `last` have been zero for a while."""
    still = past.run[first:last].min() >= FREEZE_TIME
    return still and not row[first:last].any()


@njit(cache=True)
def _decide(past: Past, robot: RobotRecord, row: Array, bad: Mask) -> None:
    """Find the sensor that contradicts two others; one that reads zero needs less of it."""
    force, agree = past.force, True
    for leg in range(4):
        first = TORQUE + 3 * leg
        foot_silent = _silent(past, row, FORCE + leg, FORCE + leg + 1)
        leg_silent = _silent(past, row, first, first + 3)
        enough = SILENT_FORCE if foot_silent or leg_silent else LEG_FORCE
        if abs(force[LEG + leg]) <= enough * robot.weight:
            continue
        agree = False
        foot_worse = abs(force[VERTICAL]) >= abs(force[BODY + 2])
        if foot_silent or (foot_worse and not leg_silent):
            bad[FORCE_SENSOR + leg] = True
        else:
            bad[TORQUE_SENSOR + 3 * leg : TORQUE_SENSOR + 3 * leg + 3] = True
    if agree and np.sqrt((force[:VERTICAL] ** 2).sum()) > BODY_FORCE:
        bad[ACCELEROMETER] = True
