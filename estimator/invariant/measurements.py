"""Measurements of the invariant filter: the legs, contacts, rows of them, and the update.

Rows are H of nu = measured - predicted = -H error + noise; those of one reading are taken in at
once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from estimator.contacts import (
    JUMP_NOISE,
    JUMP_PERSISTENCE,
    JUMP_SCATTER,
    LEAST_TRUST,
    feet_agree_on_jump,
    foot_weights,
    jump_is_open,
)
from estimator.invariant.state import (
    ERRORS,
    FEET,
    GYROSCOPE,
    ORIENTATION,
    POSITION,
    ROTATION,
    VELOCITY,
    Memory,
    move_by,
)
from estimator.kernel_filter import attitude
from estimator.options import InvariantOptions
from robots.legs import (
    Legs,
    calf_angular_velocity_in_base,
    foot_jacobians_in_base,
    leg_measurements,
)
from robots.rotations import (
    Array,
    exp3,
    log3,
    quaternion_from_rotation,
    rotation_from_quaternion,
    skew,
)
from saltation.cholesky import factorise, solve_lower, solve_lower_transposed

MOST_ROWS = 31
"""Orientation, and position, velocity and height of four feet."""


class LegReadings(NamedTuple):
    """Four legs in world axes, by encoders, gyroscope and the estimated rotation."""

    positions: Array
    """R h (4, 3) [m]."""
    by_feet: Array
    """(4, 3) velocity of the base if the foot stands, or rolls [m/s]."""
    rolling: Array
    """(4, 3) velocity of a rolling foot's centre [m/s]."""
    spins: Array
    """(4, 3) angular velocity of the calves [rad/s]."""
    position_noise: Array
    """(4, 3, 3) covariance of `positions` [m2]."""
    velocity_noise: Array
    """(4, 3, 3) covariance of `by_feet` by the joints' velocities [m2/s2]."""
    radius: float
    """Of the feet [m]."""


@njit(cache=True)
def sense_legs(
    legs: Legs, rotation: Array, omega: Array, row: Array, parameters: InvariantOptions
) -> LegReadings:
    """Read the legs of a reading's row (50).

    rotation (3, 3) base to world and omega (3) of the base [rad/s] as estimated. Noises: R J J^T
    R^T times the joints' variances, and what the legs and feet add.
    """
    joints, rates = row[10:22], row[22:34]
    positions, velocities, rolling = leg_measurements(
        legs, rotation, omega, joints, rates, legs.foot_radius
    )
    if parameters.published:
        rolling[:] = 0.0
    jacobians = foot_jacobians_in_base(legs, joints)
    spins, noise, rate_noise = np.empty((4, 3)), np.empty((4, 3, 3)), np.empty((4, 3, 3))
    for i in range(4):
        leg = slice(3 * i, 3 * i + 3)
        spins[i] = rotation @ calf_angular_velocity_in_base(omega, joints[leg], rates[leg])
        lever = rotation @ jacobians[i]
        spread = lever @ lever.T
        noise[i] = parameters.encoder_noise**2 * spread
        noise[i] += parameters.kinematics_noise**2 * np.eye(3)
        rate_noise[i] = parameters.joint_velocity_noise**2 * spread
        rate_noise[i] += parameters.foot_velocity_noise**2 * np.eye(3)
    return LegReadings(
        positions, rolling - velocities, rolling, spins, noise, rate_noise, legs.foot_radius
    )


@njit(cache=True)
def add_contact(
    vectors: Array, covariance: Array, foot: int, relative: Array, noise: Array
) -> None:
    """Put contact `foot` where the kinematics see it now, in place (Hartley, section 6.2).

    d = p + R h(q), so xi_d = xi_p + R J w. A foot in the air is put anew at every reading: its slot
    then knows nothing but what the base knows, which is marginalisation, and it is ready to stand.
    relative R h (3) [m], noise (3, 3) of it [m2], world axes.
    """
    vectors[2 + foot] = vectors[1] + relative
    rows = FEET + 3 * foot
    for i in range(3):
        covariance[rows + i] = covariance[POSITION + i]
    for i in range(3):
        covariance[:, rows + i] = covariance[:, POSITION + i]
    covariance[rows : rows + 3, rows : rows + 3] += 0.5 * (noise + noise.T)


@njit(cache=True)
def open_for_jump(
    covariance: Array, residuals: Array, trust: Array, jump: Array, dt: float,
    parameters: InvariantOptions,
) -> None:  # fmt: skip
    """Free the velocity for a while when the stance feet agree on a jump, in place.

    residuals (4, 3) of the velocity by each foot [m/s], trust (4). The noise is isotropic in the
    velocity alone, so the filter stays equivariant.
    """
    variance, noise = velocity_variance(covariance), parameters.legs.foot_velocity_noise
    agree = feet_agree_on_jump(residuals, trust, variance, noise, JUMP_SCATTER)
    if jump_is_open(jump, agree, dt, JUMP_PERSISTENCE):
        for i in range(3):
            covariance[VELOCITY + i, VELOCITY + i] += JUMP_NOISE**2 * dt


@njit(cache=True)
def velocity_variance(covariance: Array) -> float:
    """Mean variance of the three velocities [m2/s2]; a trace does not depend on yaw."""
    return (covariance[3, 3] + covariance[4, 4] + covariance[5, 5]) / 3.0


@njit(cache=True)
def contact_weights(
    covariance: Array, residuals: Array, trust: Array, parameters: InvariantOptions
) -> Array:
    """Weight of each standing foot, (4): its trust, less where it moves alone (Huber's weight)."""
    if parameters.published:
        return np.where(trust > LEAST_TRUST, trust, 0.0)
    return foot_weights(velocity_variance(covariance), residuals, trust, parameters.legs)


@njit(cache=True)
def contact_noises(weights: Array, parameters: InvariantOptions) -> Array:
    """Random walk of each contact (4) [m per sqrt(s)], geometric in the weight (4)."""
    ratio = parameters.light_contact_noise / parameters.contact_noise
    return parameters.contact_noise * ratio ** (1.0 - weights)


class Rows(NamedTuple):
    """Stacked measurements; the first `count` of each array are filled."""

    H: Array  # noqa: N815
    """(31, 30)."""
    nu: Array
    """(31,) innovations."""
    N: Array  # noqa: N815
    """(31, 31) covariance of the noise."""


@njit(cache=True)
def empty_rows() -> Rows:
    """Rows of zeros, to be filled."""
    return Rows(
        np.zeros((MOST_ROWS, ERRORS)), np.zeros(MOST_ROWS), np.zeros((MOST_ROWS, MOST_ROWS))
    )


@njit(cache=True)
def observe_position(
    rows: Rows, at: int, vectors: Array, foot: int, relative: Array, noise: Array
) -> int:
    """Foot by kinematics, h(q) = R^T (d - p) + J w (Hartley, section 5.2); the next free row.

    A right-invariant observation: nu = R h - (d - p), H = [.. -I at p .. I at d], whatever the
    estimate. relative R h (3) [m], noise R J cov(w) J^T R^T (3, 3) [m2].
    """
    column = FEET + 3 * foot
    for i in range(3):
        rows.nu[at + i] = relative[i] - (vectors[2 + foot, i] - vectors[1, i])
        rows.H[at + i, column + i] = 1.0
        rows.H[at + i, POSITION + i] = -1.0
    rows.N[at : at + 3, at : at + 3] = noise
    return at + 3


@njit(cache=True)
def observe_velocity(
    rows: Rows, at: int, vectors: Array, by_foot: Array, spin: Array, relative: Array,
    rotation: Array, to_centre: Array, noise: Array,
) -> int:  # fmt: skip
    """Base velocity by a standing foot, v = rho - R (omega x h + J dq); the next free row.

    Not of the paper. nu = by_foot - v with H = I at v, and what gyroscope bias and rolling add:
    R [h]_x - [r e_z]_x R at the bias, -[spin]_x [r e_z]_x at the rotation.
    by_foot (3) [m/s], spin (3) of the calf [rad/s], relative R h (3) [m], all in world axes;
    to_centre [r e_z]_x (3, 3); noise (3, 3) [m2/s2].
    """
    for i in range(3):
        rows.nu[at + i] = by_foot[i] - vectors[0, i]
        rows.H[at + i, VELOCITY + i] = 1.0
    rows.H[at : at + 3, ROTATION : ROTATION + 3] = -skew(spin) @ to_centre
    rows.H[at : at + 3, GYROSCOPE : GYROSCOPE + 3] = (skew(relative) - to_centre) @ rotation
    rows.N[at : at + 3, at : at + 3] = noise
    return at + 3


@njit(cache=True)
def observe_height(
    rows: Rows, at: int, vectors: Array, foot: int, height: float, variance: float
) -> int:
    """A standing foot's centre is `height` [m] above z = 0; the next free row.

    Not of the paper, and not invariant: nu = height - d_z, H = [-(d)_x at R .. I at d], third row.
    """
    d = vectors[2 + foot]
    rows.nu[at] = height - d[2]
    rows.H[at, ROTATION], rows.H[at, ROTATION + 1] = d[1], -d[0]
    rows.H[at, FEET + 3 * foot + 2] = 1.0
    rows.N[at, at] = variance
    return at + 1


@njit(cache=True)
def observe_orientation(
    rows: Rows, at: int, rotation: Array, measured: Array, bias: Array, variance: float
) -> int:
    """The IMU's own orientation R exp(b) exp(n); the next free row.

    Not of the paper. nu = log(measured exp(-b) R^T), H = [I at R .. R at the bias].
    rotation and measured (3, 3) base to world, bias b (3) [rad], variance of n [rad2].
    """
    nu = log3(measured @ exp3(-bias) @ rotation.T)
    for i in range(3):
        rows.nu[at + i] = nu[i]
        rows.H[at + i, ROTATION + i] = 1.0
        rows.N[at + i, at + i] = variance
    rows.H[at : at + 3, ORIENTATION : ORIENTATION + 3] = rotation
    return at + 3


@njit(cache=True)
def measured_rotation(row: Array) -> Array:
    """Rotation (3, 3) base to world of a reading's row (50), by the IMU itself."""
    return rotation_from_quaternion(attitude(row))


@njit(cache=True)
def measure(
    memory: Memory, row: Array, sensed: LegReadings, weights: Array, parameters: InvariantOptions
) -> bool:
    """Correct with a reading's row (50): orientation and the feet that stand; False if it fails.

    weights (4): how firmly each foot stands.
    """
    rows, at = empty_rows(), 0
    if not parameters.published:
        at = observe_orientation(
            rows, at, memory.rotation, measured_rotation(row), memory.biases[2],
            parameters.orientation_noise**2,
        )  # fmt: skip
    for foot in range(4):
        if memory.contact[2, foot] > LEAST_TRUST:
            at = observe_foot(rows, at, memory, sensed, foot, weights[foot], parameters)
        else:
            add_contact(
                memory.vectors, memory.covariance, foot, sensed.positions[foot],
                sensed.position_noise[foot],
            )  # fmt: skip
    if at == 0:
        return True
    sound = correct(memory, rows.H[:at], rows.nu[:at], np.ascontiguousarray(rows.N[:at, :at]))
    memory.rotation[:] = rotation_from_quaternion(quaternion_from_rotation(memory.rotation))
    return sound


@njit(cache=True)
def observe_foot(
    rows: Rows, at: int, memory: Memory, sensed: LegReadings, foot: int, weight: float,
    parameters: InvariantOptions,
) -> int:  # fmt: skip
    """All rows of one standing foot; the next free row."""
    radius, vectors = sensed.radius, memory.vectors
    softening = 1.0 / max(weight * weight, 1e-6)
    at = observe_position(
        rows, at, vectors, foot, sensed.positions[foot], sensed.position_noise[foot]
    )
    if parameters.published:
        return at
    at = observe_velocity(
        rows, at, vectors, sensed.by_feet[foot], sensed.spins[foot], sensed.positions[foot],
        memory.rotation, skew(np.array([0.0, 0.0, radius])),
        softening * sensed.velocity_noise[foot],
    )  # fmt: skip
    if not np.isnan(memory.ground[foot]):
        variance, height = softening * parameters.height_noise**2, memory.ground[foot] + radius
        at = observe_height(rows, at, vectors, foot, height, variance)
    return at


@njit(cache=True)
def correct(memory: Memory, H: Array, nu: Array, N: Array) -> bool:  # noqa: N803
    """X <- exp(K nu) X and the biases by their part, in place; False if S is not positive.

    S = H P H^T + N, K = P H^T S^-1, P+ = (I - K H) P (I - K H)^T + K N K^T (Joseph's form, made
    exactly symmetric). H (m, 30), nu (m,), N (m, m); nu = -H error + noise.
    """
    P = memory.covariance
    transposed_gain = H @ P
    S = transposed_gain @ H.T + N
    lower = np.zeros_like(S)
    if not factorise(S, lower):
        return False
    solve_lower(lower, transposed_gain)
    solve_lower_transposed(lower, transposed_gain)
    K = np.ascontiguousarray(transposed_gain.T)
    delta = K @ nu
    move_by(delta[:GYROSCOPE], memory.rotation, memory.vectors)
    for i in range(3):
        memory.biases[i] += delta[GYROSCOPE + 3 * i : GYROSCOPE + 3 * i + 3]
    left = np.eye(P.shape[0]) - K @ H
    P[:] = left @ P @ left.T + K @ N @ K.T
    P[:] = 0.5 * (P + P.T)
    return True
