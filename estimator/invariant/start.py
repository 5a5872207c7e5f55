"""The invariant filter's first state, from one reading."""

from __future__ import annotations

import numpy as np
from numba import njit

from estimator.advance import heights_at_start, touch
from estimator.health.layout import FORCE
from estimator.invariant.contacts import add_contact
from estimator.invariant.legs import sense_legs
from estimator.invariant.measure import measured_rotation
from estimator.invariant.memory import (
    ACCELEROMETER,
    GYROSCOPE,
    ORIENTATION,
    POSITION,
    ROTATION,
    VELOCITY,
    Memory,
)
from estimator.invariant.options import InvariantOptions
from robots.legs import Legs
from robots.rotations import Array, skew
from robots.terrain import Ground

POSITION_VARIANCE, VELOCITY_VARIANCE = 1e-4, 1e-2
"""Of the base at the start [m2], [m2/s2]."""


@njit(cache=True)
def restart(
    memory: Memory, legs: Legs, row: Array, place: Array, ground: Ground,
    parameters: InvariantOptions,
) -> None:  # fmt: skip
    """Place the base at `place` (2) [m] with the height and velocity that the legs give.

    The orientation is the measured one. Feet in contact stand on the ground; without any, the
    lowest foot touches it and the velocity is zero. Ground of unknown height is level at z = 0
    here. The biases begin at zero.
    """
    memory.rotation[:] = measured_rotation(row)
    sensed = sense_legs(legs, memory.rotation, row[4:7], row, parameters)
    touch(memory.contact, row[FORCE:], sensed.positions, parameters.legs)
    weights, total = memory.contact[1], memory.contact[1].sum()
    heights = heights_at_start(memory.ground, ground, sensed.positions, place, legs.foot_radius)
    height, velocity = heights.max(), np.zeros(3)
    if total > 0.5:
        height = (weights * heights).sum() / total
        velocity = weights / total @ sensed.by_feet
    memory.vectors[0] = velocity
    memory.vectors[1] = np.array([place[0], place[1], height])
    memory.biases[:], memory.jump[:] = 0.0, 0.0
    start_covariance(memory.covariance, memory.rotation, memory.vectors[1], parameters)
    for foot in range(4):
        add_contact(
            memory.vectors, memory.covariance, foot, sensed.positions[foot],
            sensed.position_noise[foot],
        )  # fmt: skip


@njit(cache=True)
def start_covariance(
    covariance: Array, rotation: Array, position: Array, parameters: InvariantOptions
) -> None:
    """Errors of a filter just placed, in place; the contacts are left to `add_contact`.

    The rotation errs by the orientation's bias and noise: xi_R = R (b + n), b being the bias that
    the filter still takes for zero. Where the base stands is known whatever its tilt, and so xi_p =
    [p]_x xi_R + noise. The legs tell the velocity in the base: xi_v does not depend on xi_R.
    """
    covariance[:] = 0.0
    bias, tilt = parameters.orientation_bias**2, slice(ROTATION, ROTATION + 3)
    orientation, place = slice(ORIENTATION, ORIENTATION + 3), slice(POSITION, POSITION + 3)
    for i in range(3):
        covariance[ROTATION + i, ROTATION + i] = bias + parameters.orientation_noise**2
        covariance[VELOCITY + i, VELOCITY + i] = VELOCITY_VARIANCE
        covariance[GYROSCOPE + i, GYROSCOPE + i] = parameters.gyroscope_bias**2
        covariance[ACCELEROMETER + i, ACCELEROMETER + i] = parameters.accelerometer_bias**2
        covariance[ORIENTATION + i, ORIENTATION + i] = bias
    covariance[tilt, orientation] = -bias * rotation
    covariance[orientation, tilt] = -bias * rotation.T
    lever = skew(position)
    covariance[place] = lever @ covariance[tilt]
    covariance[:, place] = np.ascontiguousarray(covariance[:, tilt]) @ lever.T
    for i in range(3):
        covariance[POSITION + i, POSITION + i] += POSITION_VARIANCE
    covariance[:] = 0.5 * (covariance + covariance.T)
