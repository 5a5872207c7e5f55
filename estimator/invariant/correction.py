"""The update of an invariant Kalman filter with all rows of one reading at once."""

from __future__ import annotations

import numpy as np
from numba import njit

from estimator.invariant.group import move_by
from estimator.invariant.memory import GYROSCOPE, Memory
from robots.rotations import Array


@njit(cache=True)
def factor(matrix: Array) -> bool:
    """Cholesky's L (m, m) in place of the lower half; False where it is not positive.

    numpy's own raises, and a filter in a control loop must not.
    """
    for i in range(matrix.shape[0]):
        rest = 0.0
        for j in range(i + 1):
            rest = matrix[i, j]
            for k in range(j):
                rest -= matrix[i, k] * matrix[j, k]
            if j < i:
                matrix[i, j] = rest / matrix[j, j]
        if not 0.0 < rest < np.inf:
            return False
        matrix[i, i] = np.sqrt(rest)
    return True


@njit(cache=True)
def solve(lower: Array, right: Array) -> None:
    """right (m, n) <- (L L^T)^-1 right, in place."""
    m = lower.shape[0]
    for i in range(m):
        for k in range(i):
            _subtract(right, i, lower[i, k], k)
        right[i] /= lower[i, i]
    for i in range(m - 1, -1, -1):
        for k in range(i + 1, m):
            _subtract(right, i, lower[k, i], k)
        right[i] /= lower[i, i]


@njit(cache=True)
def _subtract(rows: Array, i: int, factor: float, k: int) -> None:
    for column in range(rows.shape[1]):
        rows[i, column] -= factor * rows[k, column]


@njit(cache=True)
def correct(memory: Memory, H: Array, nu: Array, N: Array) -> bool:  # noqa: N803
    """X <- exp(K nu) X and the biases by their part, in place; False if S is not positive.

    S = H P H^T + N, K = P H^T S^-1, P+ = (I - K H) P (I - K H)^T + K N K^T (Joseph's form, made
    exactly symmetric). H (m, 30), nu (m,), N (m, m); nu = -H error + noise.
    """
    P = memory.covariance
    transposed_gain = H @ P
    S = transposed_gain @ H.T + N
    if not factor(S):
        return False
    solve(S, transposed_gain)
    K = np.ascontiguousarray(transposed_gain.T)
    delta = K @ nu
    move_by(delta[:GYROSCOPE], memory.rotation, memory.vectors)
    for i in range(3):
        memory.biases[i] += delta[GYROSCOPE + 3 * i : GYROSCOPE + 3 * i + 3]
    left = np.eye(P.shape[0]) - K @ H
    P[:] = left @ P @ left.T + K @ N @ K.T
    P[:] = 0.5 * (P + P.T)
    return True
