"""One scalar measurement: the Kalman gain, and the covariance it leaves.

The covariance P (n, n) is read and written in its lower triangle only, so that each entry is there
once; `mirror` fills the upper one in.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from robots.rotations import Array

Columns = NDArray[np.int64]


@njit(cache=True)
def innovation_variance(P: Array, columns: Columns, h: Array) -> float:
    """H P H^T of a row with the entries h (m) in `columns` (m)."""
    variance = 0.0
    for a in range(len(columns)):
        across = 0.0
        for b in range(a):
            i, j = columns[a], columns[b]
            across += h[b] * (P[i, j] if i > j else P[j, i])
        variance += h[a] * (2.0 * across + h[a] * P[columns[a], columns[a]])
    return variance


@njit(cache=True)
def predicted(d: Array, columns: Columns, h: Array) -> float:
    """H d: what the corrections (n) so far already explain of a residual."""
    found = 0.0
    for a in range(len(columns)):
        found += h[a] * d[columns[a]]
    return found


@njit(cache=True, error_model="numpy")
def correct(
    P: Array, d: Array, columns: Columns, h: Array, residual: float, variance: float
) -> None:
    """Take y - h(x) = `residual` in, with noise of `variance`; P and d (n) in place.

    The corrections d add up over the rows of one reading, and every row is linearised at the same
    state, so the order of the rows does not matter. With g = P H^T, s = H g + r and the gain
    k = g / s, Joseph's (I - k H) P (I - k H)^T + r k k^T is P - g g^T / s.
    """
    n = P.shape[0]
    g = np.zeros(n)
    for a in range(len(columns)):
        c, entry = columns[a], h[a]
        for i in range(c):
            g[i] += entry * P[c, i]
        for i in range(c, n):
            g[i] += entry * P[i, c]
    s = predicted(g, columns, h) + variance
    innovation = residual - predicted(d, columns, h)
    for i in range(n):
        gain = g[i] / s
        d[i] += gain * innovation
        for j in range(i + 1):
            P[i, j] -= gain * g[j]


@njit(cache=True)
def mirror(P: Array) -> None:
    """Make the upper triangle of P that of its transpose, in place."""
    for i in range(P.shape[0]):
        for j in range(i):
            P[j, i] = P[i, j]
