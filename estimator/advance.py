"""From one reading's numbers to the next state of the leg-odometry filter, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit

from estimator.axis_filter import FEET, POSITION, VELOCITY
from estimator.contact_trust import learn_offset, update_trust
from estimator.filter_step import (
    correct_all,
    foot_weights,
    healthy,
    move_feet,
    open_for_jump,
    predict_all,
    start,
)
from estimator.health.layout import ACCELERATION, FORCE, GYRO
from estimator.intake import lose, take_in
from estimator.memory import Memory
from estimator.options import LegOdometryOptions
from estimator.record import CONTACT, SENSORS, STATUS, TIME, Q, Record, V
from robots.legs import Legs, leg_measurements
from robots.rotations import Array, rotation_from_quaternion
from robots.terrain import Ground, look_below


@njit(cache=True)
def measure(legs: Legs, row: Array) -> tuple[Array, Array, Array, Array]:
    """Rotation (3, 3) base to world and the `leg_measurements` (4, 3) each of a reading's row."""
    quaternion = row[:4] / np.sqrt((row[:4] * row[:4]).sum())
    rotation = rotation_from_quaternion(quaternion)
    positions, velocities, rolling = leg_measurements(
        legs, rotation, row[4:7], row[10:22], row[22:34], legs.foot_radius
    )
    return rotation, positions, velocities, rolling


@njit(cache=True)
def update_contacts(
    contact: Array, forces: Array, positions: Array, dt: float, parameters: LegOdometryOptions
) -> None:
    """Advance `Memory.contact` (4, 4) by `dt` [s], in place.

    forces (4) as measured [N], positions (4, 3) of the feet relative to the base, world axes [m].
    """
    clearance = positions[:, 2] - positions[:, 2].min()
    learn_offset(forces, clearance, dt, contact[3], parameters)
    update_trust(forces - contact[3], dt, contact[0], contact[1], contact[2], parameters)


@njit(cache=True)
def touch(contact: Array, forces: Array, positions: Array, parameters: LegOdometryOptions) -> None:
    """Contacts of a robot that is met as it is: a foot that touches stands already, in place."""
    contact[0] = -1.0
    update_contacts(contact, forces, positions, 0.0, parameters)
    for i in range(4):
        if contact[0, i] >= 0.0:
            contact[0, i] = parameters.touchdown_ramp
    contact[2] = contact[1]


@njit(cache=True)
def restart(
    memory: Memory, legs: Legs, row: Array, place: Array, ground: Ground,
    parameters: LegOdometryOptions,
) -> None:  # fmt: skip
    """Place the base at `place` (2) [m] with the height and velocity that the legs give.

    The feet in contact stand on the ground; without any, the lowest foot touches it and the
    velocity is zero. Ground of unknown height is level at z = 0 here.
    """
    _, positions, velocities, rolling = measure(legs, row)
    touch(memory.contact, row[FORCE:], positions, parameters)
    weights = memory.contact[1]
    total = weights.sum()
    velocity = np.zeros(3)
    memory.x[0, POSITION], memory.x[1, POSITION] = place[0], place[1]
    heights = heights_at_start(memory.ground, ground, positions, place, legs.foot_radius)
    height = heights.max()
    if total > 0.5:
        height = (weights * heights).sum() / total
        for i in range(4):
            velocity += weights[i] / total * (rolling[i] - velocities[i])
    memory.x[2, POSITION] = height
    memory.jump[:] = 0.0
    start(memory.x, memory.covariance, positions, velocity)


@njit(cache=True)
def heights_at_start(
    below: Array, ground: Ground, positions: Array, place: Array, foot_radius: float
) -> Array:
    """The base's height (4) [m] with each of the feet on the ground; writes that `below` them (4).

    positions (4, 3) of the feet relative to the base, world axes [m]; place (2) of the base [m].
    """
    feet = positions.copy()
    feet[:, :2] += place
    look_below(ground, feet, below)
    return foot_radius - positions[:, 2] + np.where(np.isnan(below), 0.0, below)


@njit(cache=True)
def advance(
    memory: Memory, legs: Legs, row: Array, dt: float, ground: Ground,
    parameters: LegOdometryOptions,
) -> bool:  # fmt: skip
    """Predict over `dt` [s] and take a usable reading's row (50) in; False when it diverged."""
    x, covariance, contact = memory.x, memory.covariance, memory.contact
    rotation, positions, velocities, rolling = measure(legs, row)
    acceleration = rotation @ row[7:10]
    acceleration[2] -= parameters.gravity
    update_contacts(contact, row[FORCE:], positions, dt, parameters)
    predict_all(x, covariance, acceleration, dt, parameters)
    by_feet = rolling - velocities
    residuals = by_feet - x[:, VELOCITY]
    open_for_jump(covariance, residuals, contact[2], memory.jump, dt, parameters)
    variance = covariance[:, VELOCITY, VELOCITY].max()
    weights = foot_weights(variance, residuals, contact[2], parameters)
    look_below(ground, x[:, FEET:].T, memory.ground)
    holding = np.zeros(4) if memory.jump[1] > 0.0 else weights
    move_feet(x, covariance, rolling, holding, dt, parameters)
    heights = memory.ground + legs.foot_radius
    correct_all(x, covariance, positions, by_feet, weights, heights, parameters)
    return healthy(x, covariance, parameters)


@njit(cache=True)
def tick(
    memory: Record, reading: Array, estimate: Array, options: Record, robot: Record, ground: Ground
) -> None:
    """Take a reading's row in and write the estimate's; memory, options and robot (1).

    A reading as old as the last one adds its measurements without prediction.
    """
    m, parameters, row, legs = memory[0], options[0], reading[SENSORS:], robot[0].legs
    if not take_in(m, robot[0], reading, estimate):
        return
    dt = reading[TIME] - m.time
    if not (0.0 <= dt <= parameters.largest_gap and advance(m, legs, row, dt, ground, parameters)):
        lose(m, estimate)
        restart(m, legs, row, m.place, ground, parameters)
    m.time = reading[TIME]
    quaternion = row[:4] / np.sqrt(row[:4] @ row[:4])
    velocity = rotation_from_quaternion(quaternion).T @ m.x[:, VELOCITY].copy()
    estimate[Q : Q + 3], estimate[Q + 3 : Q + 7] = m.x[:, POSITION], quaternion
    estimate[V : V + 3], estimate[V + 3 : V + 6] = velocity, row[GYRO:ACCELERATION]
    estimate[CONTACT:STATUS] = m.contact[1]
