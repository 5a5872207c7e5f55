"""The legs as the invariant filter reads them: `leg_measurements` with the noise of the joints."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from estimator.invariant.options import InvariantOptions
from robots.legs import (
    Legs,
    calf_angular_velocity_in_base,
    foot_jacobians_in_base,
    leg_measurements,
)
from robots.rotations import Array


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
    if not parameters.use_rolling:
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
