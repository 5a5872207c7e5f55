"""One scalar measurement: the Kalman gain, and Joseph's form of the covariance it leaves."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]
Columns = NDArray[np.int64]


@njit(cache=True)
def innovation_variance(P: Array, columns: Columns, h: Array) -> float:
    """H P H^T of a row with the entries h (m) in `columns` (m); P (n, n)."""
    variance = 0.0
    for a in range(len(columns)):
        for b in range(len(columns)):
            variance += h[a] * h[b] * P[columns[a], columns[b]]
    return variance


@njit(cache=True)
def predicted(d: Array, columns: Columns, h: Array) -> float:
    """H d: what the corrections (n) so far already explain of a residual."""
    found = 0.0
    for a in range(len(columns)):
        found += h[a] * d[columns[a]]
    return found


@njit(cache=True)
def correct(
    P: Array, d: Array, columns: Columns, h: Array, residual: float, variance: float
) -> None:
    """Take y - h(x) = `residual` in, with noise of `variance`; P (n, n) and d (n) in place.

    The corrections d add up over the rows of one reading, and every row is linearised at the same
    state, so the order of the rows does not matter. With g = P H^T, s = H g + r and the gain
    k = g / s, Joseph's (I - k H) P (I - k H)^T + r k k^T is

        P - k g^T - g k^T + s k k^T

    whose every entry equals its mirror image to the last bit.
    """
    n = P.shape[0]
    g = np.zeros(n)
    for a in range(len(columns)):
        row = P[columns[a]]
        for i in range(n):
            g[i] += h[a] * row[i]
    s = predicted(g, columns, h) + variance
    k = g / s
    d += k * (residual - predicted(d, columns, h))
    for i in range(n):
        for j in range(n):
            P[i, j] += s * (k[i] * k[j]) - (k[i] * g[j] + g[i] * k[j])
