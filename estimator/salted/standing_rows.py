"""What the feet that stand say: their contact points rest, and their centres are at the radius."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from estimator.salted.foot_rows import FootRows, foot_rows
from estimator.salted.layout import ANGULAR, JOINTS, POSITION, RATES, ROTATION, VELOCITY
from estimator.salted.memory import AGE, Memory
from estimator.salted.options import Parameters
from estimator.salted.scalar_update import correct, innovation_variance, predicted

Array = NDArray[np.float64]

LEAST_TRUST = 0.05
"""A foot that holds less than this says nothing."""
UP = 2


@njit(cache=True)
def take_standing_feet(
    m: Memory, d: Array, load: Array, trust: Array, jumping: bool, parameters: Parameters
) -> None:
    """Zero velocity and height of feet with their trust (4); P and d (48) in place.

    A foot is soft: its load (4) [N] presses it in, and it rolls on a radius that is smaller by half
    of that. Its noise grows as its trust falls, while it lands or is pressed hard, and by Huber's
    weight where it contradicts the state, but for its velocity after a jump of the base: then the
    state is what is wrong.
    """
    sunk = np.maximum(load, 0.0) / parameters.foot_stiffness
    sunk = np.minimum(sunk, parameters.foot_depth)
    feet = foot_rows(m.q, m.v, parameters.foot_radius - 0.5 * sunk)
    for i in range(4):
        if trust[i] <= LEAST_TRUST:
            continue
        landing = np.exp(-m.contact[AGE, i] / parameters.touchdown_time)
        pressing = landing + max(0.0, load[i] / parameters.heavy_load - 1.0)
        columns = _velocity_columns(i)
        for axis in range(3):
            unrest = pressing if axis == UP else landing
            slip = parameters.foot_vertical_noise if axis == UP else parameters.foot_velocity_noise
            variance = (slip / trust[i]) ** 2 + (parameters.touchdown_noise * unrest) ** 2
            h, residual = feet.velocity_jacobian[i, axis], -feet.velocity[i, axis]
            if not jumping:
                variance *= _softening(m.P, d, columns, h, residual, variance, parameters.huber)
            correct(m.P, d, columns, h, residual, variance)
        columns, h = _height_columns(i), feet.height_jacobian[i]
        residual = parameters.foot_radius - sunk[i] - feet.height[i]
        sinking = parameters.touchdown_noise * parameters.touchdown_time * pressing
        variance = (parameters.height_noise / trust[i]) ** 2 + sinking * sinking
        variance *= _softening(m.P, d, columns, h, residual, variance, parameters.huber)
        correct(m.P, d, columns, h, residual, variance)


@njit(cache=True)
def height_variances(P: Array, feet: FootRows) -> Array:
    """Variances (4) of the heights of the feet's centres [m2]."""
    variances = np.empty(4)
    for i in range(4):
        variances[i] = innovation_variance(P, _height_columns(i), feet.height_jacobian[i])
    return variances


@njit(cache=True)
def _softening(
    P: Array, d: Array, columns: NDArray[np.int64], h: Array, residual: float, variance: float,
    huber: float,
) -> float:  # fmt: skip
    """What Huber's weight makes of a row's variance: 1 or more."""
    deviation = np.sqrt(innovation_variance(P, columns, h) + variance)
    distance = abs(residual - predicted(d, columns, h)) / deviation
    return 1.0 if distance <= huber else distance / huber


@njit(cache=True)
def _velocity_columns(foot: int) -> NDArray[np.int64]:
    columns = np.empty(15, dtype=np.int64)
    for j in range(3):
        columns[j], columns[3 + j] = VELOCITY + j, ANGULAR + j
        columns[6 + j], columns[9 + j] = RATES + 3 * foot + j, JOINTS + 3 * foot + j
        columns[12 + j] = ROTATION + j
    return columns


@njit(cache=True)
def _height_columns(foot: int) -> NDArray[np.int64]:
    columns = np.empty(9, dtype=np.int64)
    for j in range(3):
        columns[j], columns[3 + j] = POSITION + j, ROTATION + j
        columns[6 + j] = JOINTS + 3 * foot + j
    return columns
