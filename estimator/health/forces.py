"""Accelerometer, joint torques and foot sensors: three accounts of the same forces.

The torques of a leg less what turns its rotors, through the leg's Jacobian, are the force on its
foot. The four forces move the body as the accelerometer says. Where two of the three agree, the
third is wrong.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from estimator.health.layout import (
    ACCELERATION,
    ACCELEROMETER,
    FORCE,
    FORCE_SENSOR,
    POSITION,
    POSITION_SENSOR,
    TORQUE,
    TORQUE_SENSOR,
    VELOCITY,
    VELOCITY_SENSOR,
)
from estimator.health.options import MonitorOptions
from estimator.health.past import BODY, LEG, VERTICAL, Past
from estimator.leg_measurements import cross
from robots.a1.kinematics import foot_jacobians_in_base
from robots.rotations import rotation_from_quaternion

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

SINGULAR = 1e-4
"""Determinant of a leg's Jacobian below which its torques say nothing of the force [m3]."""


@njit(cache=True)
def judge_forces(past: Past, row: Array, dt: float, bad: Mask, th: MonitorOptions) -> None:
    """Set `bad` (43) for foot sensors, torques and accelerometer after a step of `dt` [s]."""
    blend = min(1.0, dt / th.force_time)
    past.force[:] *= 1.0 - blend
    rotation = rotation_from_quaternion(past.expected[:4])
    forces, known = _forces_of_legs(past, row, rotation, dt, bad, th)
    for leg in range(4):
        if known[leg] and not bad[FORCE_SENSOR + leg]:
            past.force[LEG + leg] += blend * (row[FORCE + leg] - forces[leg, 2])
    if known.all() and not bad[ACCELEROMETER]:
        acceleration = rotation @ row[ACCELERATION:POSITION]
        past.force[:VERTICAL] += blend * (acceleration - forces.sum(axis=0) / th.mass)
        measured = row[FORCE : FORCE + 4].sum() / th.mass
        if not bad[FORCE_SENSOR : FORCE_SENSOR + 4].any():
            past.force[VERTICAL] += blend * (acceleration[2] - measured)
    _limit(past.force[:], th)
    _decide(past.force[:], bad, th)


@njit(cache=True)
def _forces_of_legs(
    past: Past, row: Array, rotation: Array, dt: float, bad: Mask, th: MonitorOptions
) -> tuple[Array, Mask]:
    """Force on each foot in world axes (4, 3) [N], and which of them are known (4).

    J' f = armature ddq - tau; J' f = b is solved by the columns' cross products.
    """
    forces, known = np.zeros((4, 3)), np.zeros(4, dtype=np.bool_)
    jacobians = foot_jacobians_in_base(past.expected[4:16])
    for leg in range(4):
        first = 3 * leg
        wrong = bad[VELOCITY_SENSOR + first : VELOCITY_SENSOR + first + 3].any()
        wrong = wrong or bad[TORQUE_SENSOR + first : TORQUE_SENSOR + first + 3].any()
        wrong = wrong or bad[POSITION_SENSOR + first : POSITION_SENSOR + first + 3].any()
        speed, last = row[VELOCITY + first :][:3], past.row[VELOCITY + first :][:3]
        a, b, c = jacobians[leg, :, 0], jacobians[leg, :, 1], jacobians[leg, :, 2]
        determinant = (a * cross(b, c)).sum()
        if wrong or not np.isfinite(last.sum()) or not abs(determinant) > SINGULAR:
            continue
        load = th.armature * (speed - last) / dt - row[TORQUE + first : TORQUE + first + 3]
        solved = load[0] * cross(b, c) + load[1] * cross(c, a) + load[2] * cross(a, b)
        forces[leg] = rotation @ (solved / determinant)
        known[leg] = True
    return forces, known


@njit(cache=True)
def _limit(force: Array, th: MonitorOptions) -> None:
    """Keep the filtered values within twice their thresholds, so that they soon come back."""
    for k in range(8):
        limit = 2.0 * (th.leg_force if k >= LEG else th.body_force)
        force[k] = min(limit, max(-limit, force[k]))


@njit(cache=True)
def _decide(force: Array, bad: Mask, th: MonitorOptions) -> None:
    """Who is outvoted: `force` (8) as in `Past`."""
    agree = True
    for leg in range(4):
        if abs(force[LEG + leg]) <= th.leg_force:
            continue
        agree = False
        if abs(force[VERTICAL]) >= abs(force[BODY + 2]):
            bad[FORCE_SENSOR + leg] = True
        else:
            bad[TORQUE_SENSOR + 3 * leg : TORQUE_SENSOR + 3 * leg + 3] = True
    if agree and np.sqrt((force[:VERTICAL] ** 2).sum()) > th.body_force:
        bad[ACCELEROMETER] = True
