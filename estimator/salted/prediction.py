"""Covariance of the errors over a tick, over a gap, and through a reset."""

from __future__ import annotations

import numpy as np
from numba import njit

from estimator.options import SaltedOptions
from estimator.salted.measurements import TOUCHDOWN_TIME, mirror
from estimator.salted.memory import (
    ACCELEROMETER_BIAS,
    AGE,
    ANGULAR,
    GYRO_BIAS,
    JOINTS,
    MISALIGNMENT,
    POSITION,
    PREVIOUS,
    RATES,
    ROBOT,
    ROTATION,
    STATES,
    VELOCITY,
    Memory,
)
from robots.legs import Legs
from robots.rotations import Array, rotation_from_quaternion
from robots.state import integrate

COASTING = 10.0
"""Factor on the random walk of the velocities through a gap without readings."""
TOUCHDOWN_ACCELERATION_NOISE = 30.0
"""Random walk of a leg's joint velocities at touchdown, fading with `TOUCHDOWN_TIME`
[rad/s/sqrt(s)]."""
IMPACT_NOISE = 1.0
"""Standard deviation of an impact's jump, relative to the jump."""


@njit(cache=True)
def predict(m: Memory, q: Array, v: Array, A: Array, dt: float, parameters: SaltedOptions) -> None:
    """Move to the state (q, v) that the contact dynamics reach after `dt` [s], in place.

    Sigma+ = A Sigma A^T + W (4.8) with A (36, 36) of the robot's tangent vectors, whose rows of the
    joints are dq+ = dq + dt dv+; the biases stay. The lower triangle is computed, and mirrored.
    The velocity that is left behind is kept, in the new base axes, with its correlations: the
    accelerometer measures the difference.
    """
    R = rotation_from_quaternion(m.q[3:7])
    turn = np.ascontiguousarray(rotation_from_quaternion(q[3:7]).T) @ R
    m.previous[:] = turn @ m.v[:3]
    P, to_velocity, to_base = m.P, A[VELOCITY:], A[:JOINTS]
    before, moved = np.ascontiguousarray(P[:ROBOT, :STATES]), np.empty((ROBOT, STATES))
    moved[VELOCITY:], moved[:JOINTS] = to_velocity @ before, to_base @ before
    moved[JOINTS:VELOCITY] = before[JOINTS:VELOCITY] + dt * moved[RATES:]
    left = turn @ before[VELOCITY : VELOCITY + 3]
    back = np.ascontiguousarray(turn.T)
    P[PREVIOUS:, PREVIOUS:] = np.ascontiguousarray(left[:, VELOCITY : VELOCITY + 3]) @ back
    P[PREVIOUS:, ROBOT:STATES] = left[:, ROBOT:]
    P[PREVIOUS:, :ROBOT] = turn @ np.ascontiguousarray(moved[:, VELOCITY : VELOCITY + 3].T)
    P[ROBOT:STATES, :ROBOT] = moved[:, ROBOT:].T
    robot, joints = moved[:, :ROBOT].copy(), slice(JOINTS, VELOCITY)
    across = robot @ to_velocity.T
    P[VELOCITY:ROBOT, :VELOCITY] = across[:VELOCITY].T
    P[VELOCITY:ROBOT, VELOCITY:ROBOT] = across[VELOCITY:]
    P[:VELOCITY, :JOINTS] = robot[:VELOCITY] @ to_base.T
    P[joints, joints] = robot[joints, joints] + dt * across[joints, JOINTS:]
    add_process_noise(P, dt, 1.0, parameters)
    add_touchdown_noise(P, m.contact[AGE], dt)
    mirror(P)
    m.q[:], m.v[:] = q, v


@njit(cache=True)
def coast(m: Memory, gap: float, parameters: SaltedOptions) -> None:
    """Go on for `gap` [s] without a reading at the velocities there are, in place."""
    step = np.zeros(ROBOT)
    step[:VELOCITY] = gap * m.v
    q, v = integrate(m.q, m.v, step)
    A = np.eye(ROBOT)
    for i in range(VELOCITY):
        A[i, VELOCITY + i] = gap
    predict(m, q, v, A, gap, parameters)
    add_process_noise(m.P, gap, COASTING**2 - 1.0, parameters)


@njit(cache=True)
def add_process_noise(P: Array, dt: float, factor: float, parameters: SaltedOptions) -> None:
    """Add `factor` times W of `dt` [s]: white accelerations, which move q by dt of what v gets."""
    for start, size, noise in (
        (VELOCITY, 3, parameters.acceleration_noise),
        (ANGULAR, 3, parameters.angular_acceleration_noise),
        (RATES, 12, parameters.joint_acceleration_noise),
    ):
        variance = factor * noise * noise * dt
        for i in range(start, start + size):
            _accelerate(P, i, variance, dt)
    for i in range(3):
        P[GYRO_BIAS + i, GYRO_BIAS + i] += factor * parameters.gyro_bias_walk**2 * dt
        P[ACCELEROMETER_BIAS + i, ACCELEROMETER_BIAS + i] += (
            factor * parameters.accelerometer_bias_walk**2 * dt
        )
        P[MISALIGNMENT + i, MISALIGNMENT + i] += factor * parameters.misalignment_walk**2 * dt


@njit(cache=True)
def add_touchdown_noise(P: Array, age: Array, dt: float) -> None:
    """Add what the legs' accelerations err by while soft feet come to rest; age (4) [s].

    The dynamics hold a foot at once that sinks in for some milliseconds. Without
    this noise the filter would explain the joints' motion by one of the base.
    """
    for leg in range(4):
        if age[leg] >= 0.0:
            fading = np.exp(-age[leg] / TOUCHDOWN_TIME)
            variance = (TOUCHDOWN_ACCELERATION_NOISE * fading) ** 2 * dt
            for i in range(RATES + 3 * leg, RATES + 3 * leg + 3):
                _accelerate(P, i, variance, dt)


@njit(cache=True)
def _accelerate(P: Array, i: int, variance: float, dt: float) -> None:
    """Add `variance` to the velocity with the index i, which moves its position by dt [s] of it."""
    P[i, i] += variance
    P[i - VELOCITY, i] += dt * variance
    P[i, i - VELOCITY] += dt * variance
    P[i - VELOCITY, i - VELOCITY] += dt * dt * variance


@njit(cache=True)
def reset(
    m: Memory, legs: Legs, v_plus: Array, jacobian: Array, noise: Array, parameters: SaltedOptions
) -> None:
    """Let a foot's impact happen to the mean and to the errors, in place.

    Sigma+ = Xi Sigma- Xi^T + W_R (4.14) with Xi = `jacobian` (36, 36). W_R is `noise` (36), a
    deviation along one direction, and `IMPACT_NOISE` of the jump itself: a rigid, plastic impact
    is little like the real one. v_plus (18) is the velocity after it; that of the tick before stays
    what it was, so the accelerometer sees the jump.
    """
    P = m.P
    robot = jacobian @ np.ascontiguousarray(P[:ROBOT])
    P[:ROBOT, :ROBOT] = np.ascontiguousarray(robot[:, :ROBOT]) @ jacobian.T
    P[:ROBOT, ROBOT:], P[ROBOT:, :ROBOT] = robot[:, ROBOT:], robot[:, ROBOT:].T
    P[:ROBOT, :ROBOT] += np.outer(noise, noise)
    for i in range(len(v_plus)):
        P[VELOCITY + i, VELOCITY + i] += (IMPACT_NOISE * (v_plus[i] - m.v[i])) ** 2
    for i in range(RATES, ROBOT):
        P[i, i] += (parameters.foot_vertical_noise / legs.thigh[(i - RATES) // 3]) ** 2
    mirror(P)
    m.v[:] = v_plus


@njit(cache=True)
def start_covariance(P: Array, parameters: SaltedOptions) -> None:
    """Covariance (48, 48) of a filter that has just been placed from its sensors, in place.

    The attitude was taken from the IMU: it errs by the misalignment, the other way round.
    """
    P[:] = 0.0
    for start, size, deviation in (
        (POSITION, 3, 0.01),
        (ROTATION, 3, parameters.orientation_noise),
        (JOINTS, 12, parameters.joint_position_noise),
        (VELOCITY, 3, 0.1),
        (ANGULAR, 3, 0.05),
        (RATES, 12, 0.1),
        (GYRO_BIAS, 3, parameters.gyro_bias),
        (ACCELEROMETER_BIAS, 3, parameters.accelerometer_bias),
        (MISALIGNMENT, 3, parameters.misalignment),
        (PREVIOUS, 3, 0.1),
    ):
        for i in range(start, start + size):
            P[i, i] = deviation * deviation
    for i in range(3):
        variance = P[MISALIGNMENT + i, MISALIGNMENT + i]
        P[ROTATION + i, ROTATION + i] += variance
        P[ROTATION + i, MISALIGNMENT + i] = P[MISALIGNMENT + i, ROTATION + i] = -variance
