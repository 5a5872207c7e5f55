"""What the sensors say of the state: rows H of nu = measured - predicted = -H error + noise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from estimator.invariant.memory import (
    ERRORS,
    FEET,
    GYROSCOPE,
    ORIENTATION,
    POSITION,
    ROTATION,
    VELOCITY,
)
from robots.rotations import Array, exp3, log3, skew

MOST_ROWS = 31
"""Orientation, and position, velocity and height of four feet."""


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
    to_centre [r e_z]_x (3, 3), zero where contacts do not roll; noise (3, 3) [m2/s2].
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
