"""Base position and velocity from accelerometer, gyroscope, encoders and foot forces.

A Kalman filter after Bledt, Powell, Katz, Di Carlo, Wensing, Kim, "MIT Cheetah 3: Design and
Control of a Robust, Dynamic Quadruped Robot" (IROS 2018). Orientation, angular velocity and joints
pass through as measured. Two additions: a foot rolls on its sphere instead of standing on a point,
and a jump of the base velocity that all stance feet report opens the filter.

The 18-state filter is linear once the orientation is given, and every one of its noises is
isotropic. So its covariance has no cross terms between world axes, and it is exactly three filters
of six states [p, v, f_FR, f_FL, f_RR, f_RL]: nine times cheaper, and better conditioned.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numba import njit

from estimator import record
from estimator.contacts import (
    JUMP_NOISE,
    JUMP_PERSISTENCE,
    JUMP_SCATTER,
    LARGEST_GAP,
    LARGEST_SPEED,
    LEAST_TRUST,
    feet_agree_on_jump,
    foot_weights,
    jump_is_open,
    stand,
    update_contacts,
)
from estimator.kernel_filter import KernelFilter, attitude, lose, take_in
from estimator.options import LegOdometryOptions
from estimator.record import memory_type
from estimator.rows import ACCELERATION, CONTACT, FORCE, GYRO, SENSORS, STATUS, TIME, Q, V
from robots.conventions import GRAVITY
from robots.legs import Legs, leg_measurements
from robots.record import Record
from robots.robot import Robot
from robots.rotations import Array, rotation_from_quaternion
from robots.terrain import Ground, look_below, make_ground

POSITION, VELOCITY, FEET = 0, 1, 2
"""In the state (6) of an axis."""
NO_STATE = -1


class Memory(record.Memory, Protocol):
    """All that the filter remembers, written in place by `advance` and `restart`."""

    x: Array
    """(3, 6) per world axis: base position [m], velocity [m/s], four foot positions [m]."""
    covariance: Array
    """(3, 6, 6) of `x`, axis by axis."""
    contact: Array
    """(4, 4) rows: time since touchdown [s], -1 in the air; probability; trust; offset [N]."""
    jump: Array
    """(2,) how long the stance feet have agreed on a jump, what is left of its window [s]."""
    ground: Array
    """(4) height of the ground below each foot [m]; NaN where it is not known."""


_TYPE = memory_type(x=(3, 6), covariance=(3, 6, 6), contact=(4, 4), jump=(2,), ground=(4,))


def new_memory() -> Record:
    """Memory (1,) of a filter that has seen nothing: identity covariance, no contact."""
    return record.new_memory(_TYPE, _begin)


@njit(cache=True)
def _begin(m: Memory) -> None:
    for axis in range(3):
        m.covariance[axis] = np.eye(6)
    m.contact[0] = -1.0


class LegOdometryFilter(KernelFilter):
    """The 18-state leg-odometry filter; see `KernelFilter`.

    The first usable reading places the base at the origin (see `reset`) with the measured
    orientation, on the height at which its standing feet touch the ground, or z = 0 where the
    ground is not known.
    """

    def __init__(
        self, options: LegOdometryOptions, robot: Robot, ground: Ground | None = None,
        heading: float = 0.0,
    ) -> None:  # fmt: skip
        """`ground` is a level floor, z = 0, where None; its x axis has `heading` [rad]."""
        super().__init__(
            tick, new_memory(), options, robot, ground or make_ground(), heading=heading
        )

    @property
    def covariance(self) -> Array:
        """Covariance (18, 18) of [base position, base velocity, four feet], world axes, SI units.

        Cross terms between world axes are zero by construction, see the module.
        """
        full = np.zeros((18, 18))
        for axis in range(3):
            full[axis::3, axis::3] = self._memory.covariance[axis]
        return full

    @property
    def velocity_covariance(self) -> Array:
        """Covariance (3, 3) of the last estimate's linear velocity, base axes [m2/s2].

        R^T P_v R: the orientation is taken as measured, so its error has no part in it.
        """
        rotation = rotation_from_quaternion(self._estimate[Q + 3 : Q + 7])
        variances = self._memory.covariance[:, VELOCITY, VELOCITY]
        return (rotation.T * variances) @ rotation


@njit(cache=True)
def measure(legs: Legs, row: Array) -> tuple[Array, Array, Array, Array]:
    """Rotation (3, 3) base to world and the `leg_measurements` (4, 3) each of a reading's row."""
    rotation = rotation_from_quaternion(attitude(row))
    positions, velocities, rolling = leg_measurements(
        legs, rotation, row[4:7], row[10:22], row[22:34], legs.foot_radius
    )
    return rotation, positions, velocities, rolling


@njit(cache=True)
def restart(
    memory: Memory, legs: Legs, row: Array, place: Array, ground: Ground,
    parameters: LegOdometryOptions,
) -> None:  # fmt: skip
    """Place the base at `place` (2) [m] as `stand` has it, and the feet where they are measured."""
    _, positions, velocities, rolling = measure(legs, row)
    x, covariance = memory.x, memory.covariance
    x[:2, POSITION], covariance[:] = place, 0.0
    x[2, POSITION], x[:, VELOCITY] = stand(
        memory, row[FORCE:], positions, rolling - velocities, place, ground, legs.foot_radius,
        parameters,
    )  # fmt: skip
    for axis in range(3):
        x[axis, FEET:] = x[axis, POSITION] + positions[:, axis]
        for i in range(6):
            covariance[axis, i, i] = 1e-2 if i == VELOCITY else 1e-4


@njit(cache=True)
def advance(
    memory: Memory, legs: Legs, row: Array, dt: float, ground: Ground,
    parameters: LegOdometryOptions,
) -> bool:  # fmt: skip
    """Predict over `dt` [s] and take a usable reading's row (50) in; False when it diverged."""
    x, covariance, contact = memory.x, memory.covariance, memory.contact
    rotation, positions, velocities, rolling = measure(legs, row)
    acceleration = rotation @ row[7:10]
    acceleration[2] -= GRAVITY
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
    return healthy(x, covariance)


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
    if not (0.0 <= dt <= LARGEST_GAP and advance(m, legs, row, dt, ground, parameters)):
        lose(m, estimate)
        restart(m, legs, row, m.place, ground, parameters)
    m.time = reading[TIME]
    quaternion = attitude(row)
    velocity = rotation_from_quaternion(quaternion).T @ m.x[:, VELOCITY].copy()
    estimate[Q : Q + 3], estimate[Q + 3 : Q + 7] = m.x[:, POSITION], quaternion
    estimate[V : V + 3], estimate[V + 3 : V + 6] = velocity, row[GYRO:ACCELERATION]
    estimate[CONTACT:STATUS] = m.contact[1]


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
    noise = parameters.foot_velocity_noise
    agree = feet_agree_on_jump(residuals, trust, variance, noise, JUMP_SCATTER)
    if jump_is_open(jump, agree, dt, JUMP_PERSISTENCE):
        for axis in range(3):
            covariance[axis, VELOCITY, VELOCITY] += JUMP_NOISE**2 * dt


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
def healthy(x: Array, covariance: Array) -> bool:
    """Whether state and covariance are finite, positive and of a possible size."""
    for axis in range(3):
        if not abs(x[axis, VELOCITY]) < LARGEST_SPEED:
            return False
        for i in range(6):
            if not (np.isfinite(x[axis, i]) and 0.0 < covariance[axis, i, i] < 1e8):
                return False
    return True


@njit(cache=True)
def predict(
    x: Array,
    covariance: Array,
    acceleration: float,
    dt: float,
    velocity_variance: float,
    position_variance: float,
) -> None:
    """Constant acceleration over `dt` [s], in place: x (6), covariance (6, 6).

    p+ = p + v dt + a dt^2/2, v+ = v + a dt; the acceleration's noise moves p and v together.
    velocity_variance [m2/s2] and position_variance [m2] are what this step adds.
    """
    x[POSITION] += dt * x[VELOCITY] + 0.5 * dt * dt * acceleration
    x[VELOCITY] += dt * acceleration
    covariance[POSITION] += dt * covariance[VELOCITY]
    covariance[:, POSITION] += dt * covariance[:, VELOCITY]
    covariance[POSITION, POSITION] += position_variance + 0.25 * dt * dt * velocity_variance
    covariance[POSITION, VELOCITY] += 0.5 * dt * velocity_variance
    covariance[VELOCITY, POSITION] += 0.5 * dt * velocity_variance
    covariance[VELOCITY, VELOCITY] += velocity_variance


@njit(cache=True)
def correct(
    x: Array, covariance: Array, plus: int, minus: int, measured: float, variance: float
) -> None:
    """Scalar update with h = x[plus] - x[minus] (`minus` may be NO_STATE), in place.

    Joseph's form P+ = (I - K H) P (I - K H)^T + K r K^T, then made exactly symmetric: it stays
    symmetric positive definite for ever, whatever the gain's rounding.
    """
    n = x.shape[0]
    g = covariance[:, plus].copy()
    innovation = measured - x[plus]
    if minus != NO_STATE:
        g -= covariance[:, minus]
        innovation += x[minus]
    s = g[plus] - (g[minus] if minus != NO_STATE else 0.0)
    gain = g / (s + variance)
    x += gain * innovation
    # (I - K H) P = P - K g^T, and that times H^T is g - K s.
    left = g - gain * s
    for i in range(n):
        for j in range(i + 1):
            covariance[i, j] += (
                variance * gain[i] * gain[j] - 0.5 * (gain[i] * g[j] + gain[j] * g[i])
            ) - 0.5 * (left[i] * gain[j] + left[j] * gain[i])
            covariance[j, i] = covariance[i, j]
