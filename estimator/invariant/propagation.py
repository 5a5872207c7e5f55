"""Prediction with gyroscope and accelerometer: the mean, the state transition and its noise."""

from __future__ import annotations

import numpy as np
from numba import njit

from estimator.invariant.group import gammas
from estimator.invariant.memory import (
    ACCELEROMETER,
    ERRORS,
    FEET,
    GYROSCOPE,
    ORIENTATION,
    POSITION,
    ROTATION,
    VELOCITY,
)
from estimator.invariant.options import InvariantOptions
from robots.rotations import Array, skew


@njit(cache=True)
def predict_mean(
    rotation: Array, vectors: Array, omega: Array, acceleration: Array, gravity: float, dt: float
) -> None:
    """Strapdown integration over `dt` [s] with both inputs held, in place (Hartley, section 5).

    R+ = R Gamma_0, v+ = v + (R Gamma_1 a + g) dt, p+ = p + v dt + (R Gamma_2 a + g/2) dt^2 with
    Gamma_i of omega dt. omega (3) [rad/s] and acceleration (3) [m/s2] in the base, without biases.
    The contacts stand; `roll_feet` moves them.
    """
    gamma_0, gamma_1, gamma_2 = gammas(omega * dt)
    g = np.array([0.0, 0.0, -gravity])
    vectors[1] += dt * vectors[0] + dt * dt * (rotation @ (gamma_2 @ acceleration) + 0.5 * g)
    vectors[0] += dt * (rotation @ (gamma_1 @ acceleration) + g)
    rotation[:] = rotation @ gamma_0


@njit(cache=True)
def transition(
    before: Array, vectors: Array, omega: Array, acceleration: Array, gravity: float, dt: float
) -> Array:
    """State transition Phi (30, 30) of `predict_mean`'s error.

    Without biases it depends on time alone: xi_v+ = xi_v + g x xi_R dt, xi_p+ = xi_p + xi_v dt +
    g x xi_R dt^2/2, exactly. The biases enter through the adjoint, [x+]_x R Gamma_1 dt for each
    vector x, and through the inputs' own effect, to second order in dt.
    before (3, 3): R ahead of the step. vectors (6, 3): after it.
    """
    _, gamma_1, gamma_2 = gammas(omega * dt)
    turned = dt * (before @ gamma_1)
    to_gravity = skew(np.array([0.0, 0.0, -gravity]))
    lever = before @ skew(acceleration)
    phi = np.eye(ERRORS)
    phi[VELOCITY : VELOCITY + 3, ROTATION : ROTATION + 3] = dt * to_gravity
    phi[POSITION : POSITION + 3, ROTATION : ROTATION + 3] = 0.5 * dt * dt * to_gravity
    for i in range(3):
        phi[POSITION + i, VELOCITY + i] = dt
    phi[ROTATION : ROTATION + 3, GYROSCOPE : GYROSCOPE + 3] = -turned
    for i in range(6):
        rows = VELOCITY + 3 * i
        phi[rows : rows + 3, GYROSCOPE : GYROSCOPE + 3] = -skew(vectors[i]) @ turned
    phi[VELOCITY : VELOCITY + 3, GYROSCOPE : GYROSCOPE + 3] += dt * dt / 2.0 * lever
    phi[POSITION : POSITION + 3, GYROSCOPE : GYROSCOPE + 3] += dt**3 / 6.0 * lever
    phi[VELOCITY : VELOCITY + 3, ACCELEROMETER : ACCELEROMETER + 3] = -turned
    phi[POSITION : POSITION + 3, ACCELEROMETER : ACCELEROMETER + 3] = -dt * dt * (before @ gamma_2)
    return phi


@njit(cache=True)
def roll_feet(
    vectors: Array, phi: Array, rotation: Array, rolling: Array, spins: Array, weights: Array,
    dt: float, foot_radius: float,
) -> None:  # fmt: skip
    """Move standing contacts with their rolling spheres; vectors (6, 3) and Phi in place.

    d+ = d + w rho dt with rho = spin x r e_z. Not of the paper and not group affine (e_z is the
    ground's, the spin the calf's): the error gains [spin]_x [r e_z]_x xi_R, about xi_R times 3
    cm/s, and [r e_z]_x R times the gyroscope's bias.
    rotation (3, 3) after the step, rolling rho (4, 3) [m/s], spins (4, 3) of the calves, world axes
    [rad/s], weights w (4).
    """
    to_centre = skew(np.array([0.0, 0.0, foot_radius]))
    for i in range(4):
        rows, step = FEET + 3 * i, weights[i] * dt
        vectors[2 + i] += step * rolling[i]
        phi[rows : rows + 3] += step * (skew(spins[i]) @ to_centre) @ phi[ROTATION : ROTATION + 3]
        phi[rows : rows + 3, GYROSCOPE : GYROSCOPE + 3] += step * (to_centre @ rotation)


@njit(cache=True)
def predict_covariance(
    covariance: Array, phi: Array, specific: float, contact_noise: Array, dt: float,
    parameters: InvariantOptions,
) -> None:  # fmt: skip
    """P+ = Phi P Phi^T + Q, in place: noise of the inputs goes where their biases go.

    specific: size of the acceleration without gravity [m/s2], contact_noise (4) [m per sqrt(s)].
    """
    covariance[:] = phi @ covariance @ phi.T
    noise = parameters.accelerometer_noise + parameters.acceleration_relative_noise * specific
    inputs = phi[:GYROSCOPE, GYROSCOPE:ORIENTATION] / np.sqrt(dt)
    inputs[:, :3] *= parameters.gyroscope_noise
    inputs[:, 3:] *= noise
    covariance[:GYROSCOPE, :GYROSCOPE] += inputs @ inputs.T
    for i in range(12):
        covariance[FEET + i, FEET + i] += contact_noise[i // 3] ** 2 * dt
    for i in range(3):
        covariance[GYROSCOPE + i, GYROSCOPE + i] += parameters.gyroscope_walk**2 * dt
        covariance[ACCELEROMETER + i, ACCELEROMETER + i] += parameters.accelerometer_walk**2 * dt
        covariance[ORIENTATION + i, ORIENTATION + i] += parameters.orientation_walk**2 * dt
    covariance[:] = 0.5 * (covariance + covariance.T)
