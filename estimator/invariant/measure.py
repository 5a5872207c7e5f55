"""All that one reading measures, stacked and taken in at once."""

from __future__ import annotations

import numpy as np
from numba import njit

from estimator.filter_step import LEAST_TRUST
from estimator.invariant.contacts import add_contact
from estimator.invariant.correction import correct
from estimator.invariant.legs import LegReadings
from estimator.invariant.memory import Memory
from estimator.invariant.observations import (
    Rows,
    empty_rows,
    observe_height,
    observe_orientation,
    observe_position,
    observe_velocity,
)
from estimator.invariant.options import InvariantOptions
from robots.rotations import Array, quaternion_from_rotation, rotation_from_quaternion, skew


@njit(cache=True)
def measured_rotation(row: Array) -> Array:
    """Rotation (3, 3) base to world of a reading's row (50), by the IMU itself."""
    return rotation_from_quaternion(row[:4] / np.sqrt((row[:4] * row[:4]).sum()))


@njit(cache=True)
def measure(
    memory: Memory, row: Array, sensed: LegReadings, weights: Array, parameters: InvariantOptions
) -> bool:
    """Correct with a reading's row (50): orientation and the feet that stand; False if it fails.

    weights (4): how firmly each foot stands.
    """
    rows, at = empty_rows(), 0
    if parameters.use_orientation:
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
    if parameters.use_foot_velocity:
        to_centre = skew(np.array([0.0, 0.0, radius if parameters.use_rolling else 0.0]))
        at = observe_velocity(
            rows, at, vectors, sensed.by_feet[foot], sensed.spins[foot], sensed.positions[foot],
            memory.rotation, to_centre, softening * sensed.velocity_noise[foot],
        )  # fmt: skip
    if parameters.use_height and not np.isnan(memory.ground[foot]):
        variance, height = softening * parameters.height_noise**2, memory.ground[foot] + radius
        at = observe_height(rows, at, vectors, foot, height, variance)
    return at
