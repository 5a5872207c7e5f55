"""Contacts of the invariant filter: new ones, slipping ones and a push that all of them see."""

from __future__ import annotations

import numpy as np
from numba import njit

from estimator.filter_step import LEAST_TRUST, foot_weights
from estimator.invariant.memory import FEET, POSITION, VELOCITY
from estimator.invariant.options import InvariantOptions
from estimator.velocity_jump import feet_agree_on_jump, jump_is_open
from robots.rotations import Array


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
    legs = parameters.legs
    agree = feet_agree_on_jump(residuals, trust, velocity_variance(covariance), legs)
    if jump_is_open(jump, agree, dt, legs):
        for i in range(3):
            covariance[VELOCITY + i, VELOCITY + i] += legs.jump_noise**2 * dt


@njit(cache=True)
def velocity_variance(covariance: Array) -> float:
    """Mean variance of the three velocities [m2/s2]; a trace does not depend on yaw."""
    return (covariance[3, 3] + covariance[4, 4] + covariance[5, 5]) / 3.0


@njit(cache=True)
def contact_weights(
    covariance: Array, residuals: Array, trust: Array, parameters: InvariantOptions
) -> Array:
    """How firmly each foot stands, (4): its trust, less where it moves alone (Huber's weight)."""
    if parameters.use_huber:
        return foot_weights(velocity_variance(covariance), residuals, trust, parameters.legs)
    return np.where(trust > LEAST_TRUST, trust, 0.0)


@njit(cache=True)
def contact_noises(weights: Array, parameters: InvariantOptions) -> Array:
    """Random walk of each contact (4) [m per sqrt(s)], geometric in the weight (4)."""
    ratio = parameters.light_contact_noise / parameters.contact_noise
    return parameters.contact_noise * ratio ** (1.0 - weights)
