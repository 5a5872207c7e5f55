"""One compiled update of the leg-odometry filter: Bledt et al. 2018, three axes of six states."""

from __future__ import annotations

import numpy as np
from numba import njit

from estimator.axis_filter import FEET, NO_STATE, POSITION, VELOCITY, correct, predict
from estimator.options import LegOdometryOptions
from estimator.velocity_jump import feet_agree_on_jump, huber_weight, jump_is_open
from robots.rotations import Array

LEAST_TRUST = 0.05
"""A foot trusted less than this gives no velocity and no height."""
SMALLEST_VARIANCE = 1e-10


@njit(cache=True)
def start(x: Array, covariance: Array, feet: Array, velocity: Array) -> None:
    """Covariance and foot positions of a filter that has just been placed, in place.

    x (3, 6) with the base position already in it, covariance (3, 6, 6), feet (4, 3) relative to
    the base in world axes [m], velocity (3) of the base in the world [m/s].
    """
    covariance[:] = 0.0
    for axis in range(3):
        x[axis, VELOCITY] = velocity[axis]
        covariance[axis, POSITION, POSITION] = 1e-4
        covariance[axis, VELOCITY, VELOCITY] = 1e-2
        for i in range(4):
            x[axis, FEET + i] = x[axis, POSITION] + feet[i, axis]
            covariance[axis, FEET + i, FEET + i] = 1e-4


@njit(cache=True)
def predict_all(
    x: Array, covariance: Array, acceleration: Array, dt: float, parameters: LegOdometryOptions
) -> None:
    """Integrate the world acceleration (3) [m/s2], gravity taken off, over `dt` [s], in place."""
    size = np.sqrt((acceleration * acceleration).sum())
    noise = parameters.acceleration_noise + parameters.acceleration_relative_noise * size
    for axis in range(3):
        predict(
            x[axis],
            covariance[axis],
            acceleration[axis],
            dt,
            noise * noise * dt,
            parameters.position_noise**2 * dt,
        )


@njit(cache=True)
def open_for_jump(
    covariance: Array, residuals: Array, trust: Array, jump: Array, dt: float,
    parameters: LegOdometryOptions,
) -> None:  # fmt: skip
    """Free the velocity for a while when the stance feet agree on a jump, in place.

    covariance (3, 6, 6), alike on the three axes so that the filter does not depend on yaw. jump
    (2,) of `jump_is_open`: the feet slip before they hold.
    """
    variance = covariance[:, VELOCITY, VELOCITY].max()
    agree = feet_agree_on_jump(residuals, trust, variance, parameters)
    if jump_is_open(jump, agree, dt, parameters):
        for axis in range(3):
            covariance[axis, VELOCITY, VELOCITY] += parameters.jump_noise**2 * dt


@njit(cache=True)
def foot_weights(
    variance: float, residuals: Array, trust: Array, parameters: LegOdometryOptions
) -> Array:
    """Trust times Huber's weight, (4): a foot that moves alone is slipping.

    variance [m2/s2] of the velocity, one axis; residuals (4, 3) of it by each foot [m/s].
    """
    weights = np.zeros(4)
    for i in range(4):
        if trust[i] > LEAST_TRUST:
            own = (parameters.foot_velocity_noise / trust[i]) ** 2
            weights[i] = trust[i] * huber_weight(residuals[i], variance + own, parameters)
    return weights


@njit(cache=True)
def move_feet(
    x: Array,
    covariance: Array,
    rolling: Array,
    weights: Array,
    dt: float,
    parameters: LegOdometryOptions,
) -> None:
    """Foot positions: standing feet roll, the others walk at random; in place.

    The random walk goes geometrically from stance to swing noise as the weight falls.
    """
    ratio = parameters.swing_foot_noise / parameters.stance_foot_noise
    for i in range(4):
        noise = parameters.stance_foot_noise * ratio ** (1.0 - weights[i])
        for axis in range(3):
            x[axis, FEET + i] += weights[i] * rolling[i, axis] * dt
            covariance[axis, FEET + i, FEET + i] += noise * noise * dt


@njit(cache=True)
def correct_all(
    x: Array, covariance: Array, positions: Array, velocities: Array, weights: Array,
    heights: Array, parameters: LegOdometryOptions,
) -> None:  # fmt: skip
    """All measurements, one scalar at a time, in place.

    positions (4, 3) foot relative to base [m]: f_i - p, always. velocities (4, 3) of the base by
    each foot [m/s]: v, and the foot's height: f_i,z = heights (4) [m], both for standing feet, the
    second where it is known and no NaN.
    """
    for i in range(4):
        for axis in range(3):
            correct(
                x[axis], covariance[axis], FEET + i, POSITION, positions[i, axis],
                parameters.kinematics_noise**2,
            )  # fmt: skip
        if weights[i] <= LEAST_TRUST * LEAST_TRUST:
            continue
        softening = 1.0 / (weights[i] * weights[i])
        for axis in range(3):
            correct(
                x[axis], covariance[axis], VELOCITY, NO_STATE, velocities[i, axis],
                parameters.foot_velocity_noise**2 * softening,
            )  # fmt: skip
        if not np.isnan(heights[i]):
            correct(
                x[2], covariance[2], FEET + i, NO_STATE, heights[i],
                parameters.height_noise**2 * softening,
            )  # fmt: skip


@njit(cache=True)
def healthy(x: Array, covariance: Array, parameters: LegOdometryOptions) -> bool:
    """Whether state and covariance are finite, positive and of a possible size."""
    for axis in range(3):
        if not abs(x[axis, VELOCITY]) < parameters.largest_speed:
            return False
        for i in range(6):
            if not (np.isfinite(x[axis, i]) and 0.0 < covariance[axis, i, i] < 1e8):
                return False
    return True
