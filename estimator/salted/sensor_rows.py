"""The readings of IMU and encoders, taken in row by row."""

from __future__ import annotations

import numpy as np
from numba import njit

from estimator.health import layout as reading
from estimator.health.monitor import Health
from estimator.salted.layout import (
    ACCELEROMETER_BIAS,
    ANGULAR,
    GYRO_BIAS,
    JOINTS,
    MISALIGNMENT,
    PREVIOUS,
    RATES,
    ROTATION,
    VELOCITY,
)
from estimator.salted.memory import Memory
from estimator.salted.options import SaltedOptions
from estimator.salted.scalar_update import correct
from robots.rotations import Array, exp3, log3, rotation_from_quaternion, skew


@njit(cache=True)
def take_accelerometer(
    m: Memory, d: Array, force: Array, doubt: Array, dt: float, parameters: SaltedOptions
) -> None:
    """The mean specific force (3) over the last `dt` [s], base axes; P and d (48) in place.

    a = (v - R^T R- v-) / dt + R^T g e_z + b, with - of the tick before. It measures what became of
    the velocity, so it corrects what the dynamics and an impact predicted of it. Its standard
    deviation has a part `doubt` (3) beside the sensor's noise [m/s2].
    """
    R = rotation_from_quaternion(m.q[3:7])
    gravity = parameters.gravity * R[2].copy()
    by_rotation, by_turning = skew(gravity), -skew(m.previous)
    expected = (m.v[:3] - m.previous) / dt + gravity + m.bias[3:6]
    columns, h = np.empty(9, dtype=np.int64), np.empty(9)
    for i in range(3):
        columns[0], h[0] = VELOCITY + i, 1.0 / dt
        columns[1], h[1] = PREVIOUS + i, -1.0 / dt
        columns[2], h[2] = ACCELEROMETER_BIAS + i, 1.0
        for j in range(3):
            columns[3 + j], h[3 + j] = ROTATION + j, by_rotation[i, j]
            columns[6 + j], h[6 + j] = ANGULAR + j, by_turning[i, j]
        noise = parameters.accelerometer_noise + doubt[i]
        noise += parameters.accelerometer_relative_noise * abs(force[i])
        correct(m.P, d, columns, h, force[i] - expected[i], noise * noise)


@njit(cache=True)
def take_gyroscope(m: Memory, d: Array, row: Array, parameters: SaltedOptions) -> None:
    """w + b, base axes; P and d (48) in place."""
    columns, h = np.empty(2, dtype=np.int64), np.ones(2)
    for i in range(3):
        columns[0], columns[1] = ANGULAR + i, GYRO_BIAS + i
        residual = row[reading.GYRO + i] - m.v[3 + i] - m.bias[i]
        correct(m.P, d, columns, h, residual, parameters.gyro_noise**2)


@njit(cache=True)
def take_orientation(m: Memory, d: Array, row: Array, parameters: SaltedOptions) -> None:
    """The IMU's attitude R exp(b): the residual log((R exp(b))^T R_IMU) is phi + b to first order.

    P and d (48) in place.
    """
    R = rotation_from_quaternion(m.q[3:7])
    measured = row[: reading.GYRO]
    measured = rotation_from_quaternion(measured / np.sqrt((measured * measured).sum()))
    residual = log3(exp3(-m.bias[6:9]) @ (R.T @ measured))
    columns, h = np.empty(2, dtype=np.int64), np.ones(2)
    for i in range(3):
        columns[0], columns[1] = ROTATION + i, MISALIGNMENT + i
        correct(m.P, d, columns, h, residual[i], parameters.orientation_noise**2)


@njit(cache=True)
def take_encoders(
    m: Memory, d: Array, row: Array, health: Health, parameters: SaltedOptions
) -> None:
    """Joint positions and velocities, those that are sound; P and d (48) in place."""
    column, h = np.empty(1, dtype=np.int64), np.ones(1)
    for i in range(12):
        if health.joint_position[i]:
            column[0] = JOINTS + i
            residual = row[reading.POSITION + i] - m.q[7 + i]
            correct(m.P, d, column, h, residual, parameters.joint_position_noise**2)
        if health.joint_velocity[i]:
            column[0] = RATES + i
            residual = row[reading.VELOCITY + i] - m.v[6 + i]
            correct(m.P, d, column, h, residual, parameters.joint_velocity_noise**2)
