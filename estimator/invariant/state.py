"""State of the invariant filter and its prediction: mean, state transition and noise.

The error is right-invariant, exp(xi) = X_estimated X_true^-1, with xi = [xi_R, xi_v, xi_p, xi_d1 ..
xi_d4] in world axes; behind it stand the biases' errors, estimated minus true, in base axes.
Letters and equations are those of Hartley et al. (see `invariant.filter`; arXiv 1904.09251). The
group SE_6(3) has a rotation with six vectors: velocity, position, four contacts.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numba import njit

from estimator import record
from estimator.options import InvariantOptions
from estimator.record import memory_type
from robots.conventions import GRAVITY
from robots.record import Record
from robots.rotations import Array, exp3, skew

# Where each error begins in the covariance.
ROTATION, VELOCITY, POSITION, FEET = 0, 3, 6, 9
GYROSCOPE, ACCELEROMETER, ORIENTATION = 21, 24, 27
ERRORS = 30


class Memory(record.Memory, Protocol):
    """All that the filter remembers, written in place by `advance` and `restart`."""

    rotation: Array
    """R (3, 3), base to world."""
    vectors: Array
    """(6, 3) rows v [m/s], p [m] and the contacts d_1 .. d_4 [m], world axes."""
    biases: Array
    """(3, 3) rows: gyroscope [rad/s], accelerometer [m/s2], orientation sensor [rad]."""
    covariance: Array
    """(30, 30) of the errors, see the module."""
    contact: Array
    """(4, 4) rows: time since touchdown [s], -1 in the air; probability; trust; offset [N]."""
    jump: Array
    """(2,) how long the stance feet have agreed on a jump, what is left of its window [s]."""
    ground: Array
    """(4) height of the ground below each foot [m]; NaN where it is not known."""


_TYPE = memory_type(
    rotation=(3, 3), vectors=(6, 3), biases=(3, 3), covariance=(ERRORS, ERRORS), contact=(4, 4),
    jump=(2,), ground=(4,),
)  # fmt: skip


def new_memory() -> Record:
    """Memory (1,) of a filter that has seen nothing: identity, no contact."""
    return record.new_memory(_TYPE, _begin)


@njit(cache=True)
def _begin(m: Memory) -> None:
    m.rotation[:], m.covariance[:], m.contact[0] = np.eye(3), np.eye(ERRORS), -1.0


@njit(cache=True)
def gammas(phi: Array) -> tuple[Array, Array, Array]:
    """Gamma_0, Gamma_1, Gamma_2 (3, 3) of phi (3) [rad]: Gamma_m = sum_n skew(phi)^n / (n + m)!.

    Gamma_0 is the exponential and Gamma_1 the left Jacobian of SO(3).
    """
    t = phi[0] ** 2 + phi[1] ** 2 + phi[2] ** 2
    if t < 0.01:
        one = 1.0 / 2.0 - t / 24.0 + t * t / 720.0 - t**3 / 40320.0
        two = 1.0 / 6.0 - t / 120.0 + t * t / 5040.0 - t**3 / 362880.0
        three = 1.0 / 24.0 - t / 720.0 + t * t / 40320.0 - t**3 / 3628800.0
    else:
        angle = np.sqrt(t)
        one = (1.0 - np.cos(angle)) / t
        two = (angle - np.sin(angle)) / (t * angle)
        three = (t + 2.0 * np.cos(angle) - 2.0) / (2.0 * t * t)
    cross = skew(phi)
    square = cross @ cross
    identity = np.eye(3)
    return (
        exp3(phi),
        identity + one * cross + two * square,
        0.5 * identity + two * cross + three * square,
    )


@njit(cache=True)
def move_by(xi: Array, rotation: Array, vectors: Array) -> None:
    """X <- exp(xi) X, in place: rotation (3, 3), vectors (6, 3), xi (21) rotation first."""
    gamma_0, gamma_1, _ = gammas(xi[:3])
    rotation[:] = gamma_0 @ rotation
    for i in range(6):
        vectors[i] = gamma_0 @ vectors[i] + gamma_1 @ xi[3 + 3 * i : 6 + 3 * i]


@njit(cache=True)
def predict_mean(
    rotation: Array, vectors: Array, omega: Array, acceleration: Array, dt: float
) -> None:
    """Strapdown integration over `dt` [s] with both inputs held, in place (Hartley, section 5).

    R+ = R Gamma_0, v+ = v + (R Gamma_1 a + g) dt, p+ = p + v dt + (R Gamma_2 a + g/2) dt^2 with
    Gamma_i of omega dt. omega (3) [rad/s] and acceleration (3) [m/s2] in the base, without biases.
    The contacts stand; `roll_feet` moves them.
    """
    gamma_0, gamma_1, gamma_2 = gammas(omega * dt)
    g = np.array([0.0, 0.0, -GRAVITY])
    vectors[1] += dt * vectors[0] + dt * dt * (rotation @ (gamma_2 @ acceleration) + 0.5 * g)
    vectors[0] += dt * (rotation @ (gamma_1 @ acceleration) + g)
    rotation[:] = rotation @ gamma_0


@njit(cache=True)
def transition(
    before: Array, vectors: Array, omega: Array, acceleration: Array, dt: float
) -> Array:
    """State transition Phi (30, 30) of `predict_mean`'s error.

    Without biases it depends on time alone: xi_v+ = xi_v + g x xi_R dt, xi_p+ = xi_p + xi_v dt +
    g x xi_R dt^2/2, exactly. The biases enter through the adjoint, [x+]_x R Gamma_1 dt for each
    vector x, and through the inputs' own effect, to second order in dt.
    before (3, 3): R ahead of the step. vectors (6, 3): after it.
    """
    _, gamma_1, gamma_2 = gammas(omega * dt)
    turned = dt * (before @ gamma_1)
    to_gravity = skew(np.array([0.0, 0.0, -GRAVITY]))
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
