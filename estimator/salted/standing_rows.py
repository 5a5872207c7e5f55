"""What the feet that stand say: their contact points rest, and their centres are at the radius."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from estimator.salted.foot_rows import FootRows, foot_rows
from estimator.salted.layout import ANGULAR, JOINTS, POSITION, RATES, ROTATION, VELOCITY
from estimator.salted.memory import AGE, LEVEL, VARIANCE, Memory
from estimator.salted.options import SaltedOptions
from estimator.salted.scalar_update import correct, innovation_variance, predicted
from robots.legs import Legs
from robots.rotations import Array
from robots.terrain import write_surface_frame

LEAST_TRUST = 0.05
"""A foot that holds less than this says nothing."""
UP = 2


@njit(cache=True)
def take_standing_feet(
    m: Memory, legs: Legs, d: Array, load: Array, trust: Array, jumping: bool,
    parameters: SaltedOptions,
) -> None:  # fmt: skip
    """Zero velocity of feet with their trust (4), and their height where the ground's is known.

    P and d (48) change in place. A foot is soft: its load (4) [N] presses it in, and it rolls on a
    radius that is smaller by half of that. Its noise grows as its trust falls, while it lands or is
    pressed hard, and by Huber's weight where it contradicts the state, but for its velocity after a
    jump of the base: then the state is what is wrong.
    """
    sunk = np.maximum(load, 0.0) / parameters.foot_stiffness
    sunk = np.minimum(sunk, parameters.foot_depth)
    feet = foot_rows(legs, m.q, m.v, legs.foot_radius - 0.5 * sunk, m.normal)
    frame = np.empty((3, 3))
    for i in range(4):
        if trust[i] <= LEAST_TRUST:
            continue
        landing = np.exp(-m.contact[AGE, i] / parameters.touchdown_time)
        pressing = landing + max(0.0, load[i] / parameters.heavy_load - 1.0)
        slip = (parameters.foot_velocity_noise / trust[i]) ** 2
        slip += (parameters.touchdown_noise * landing) ** 2
        sink = (parameters.foot_vertical_noise / trust[i]) ** 2
        sink += (parameters.touchdown_noise * pressing) ** 2
        write_surface_frame(m.normal[i, 0], m.normal[i, 1], m.normal[i, 2], frame)
        columns, H = _velocity_columns(i), frame.T @ feet.velocity_jacobian[i]
        residual = -(frame.T @ feet.velocity[i])
        if not jumping:
            slip *= _softening(m.P, d, columns, H[:UP], residual[:UP], slip, parameters.huber)
            sink *= _softening(m.P, d, columns, H[UP:], residual[UP:], sink, parameters.huber)
        for axis in range(3):
            noise = sink if axis == UP else slip
            correct(m.P, d, columns, H[axis], residual[axis], noise)
        if m.ground[VARIANCE, i] > 0.0:
            continue
        columns, H = _height_columns(i), feet.height_jacobian[i : i + 1]
        centre = m.ground[LEVEL, i] + legs.foot_radius - sunk[i]
        residual = np.array([centre - feet.height[i]])
        unrest = parameters.touchdown_noise * parameters.touchdown_time * pressing
        noise = (parameters.height_noise / trust[i]) ** 2 + unrest * unrest
        noise *= _softening(m.P, d, columns, H, residual, noise, parameters.huber)
        correct(m.P, d, columns, H[0], residual[0], noise)


@njit(cache=True)
def height_variances(P: Array, feet: FootRows) -> Array:
    """Variances (4) of the places of the feet's centres along the ground's normal [m2]."""
    variances = np.empty(4)
    for i in range(4):
        variances[i] = innovation_variance(P, _height_columns(i), feet.height_jacobian[i])
    return variances


@njit(cache=True)
def _softening(
    P: Array, d: Array, columns: NDArray[np.int64], H: Array, residual: Array, variance: float,
    huber: float,
) -> float:  # fmt: skip
    """What Huber's weight makes of the variance that rows H (r, m) share: 1 or more.

    The distance is that of the residuals (r) together, so it does not depend on their axes.
    """
    squared, spread = 0.0, 0.0
    for axis in range(len(residual)):
        squared += (residual[axis] - predicted(d, columns, H[axis])) ** 2
        spread += innovation_variance(P, columns, H[axis]) + variance
    distance = np.sqrt(squared / spread)
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
