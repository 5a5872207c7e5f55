"""The group SE_6(3): a rotation with six vectors (velocity, position, four contacts).

Letters and equations are those of Hartley, Ghaffari, Eustice, Grizzle, "Contact-aided invariant
extended Kalman filtering for robot state estimation" (IJRR 39(4), 2020; arXiv 1904.09251).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from robots.rotations import Array, exp3, skew


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
