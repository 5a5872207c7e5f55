"""Small dense matrices in kernels: loops beat BLAS at these sizes and need no threads."""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, error_model="numpy")
def product(A, B):
    """A B."""
    rows, inner, columns = A.shape[0], A.shape[1], B.shape[1]
    C = np.zeros((rows, columns))
    for i in range(rows):
        for k in range(inner):
            factor = A[i, k]
            if factor != 0.0:
                for j in range(columns):
                    C[i, j] += factor * B[k, j]
    return C


@njit(cache=True, error_model="numpy")
def times(A, x):
    """A x."""
    y = np.zeros(A.shape[0])
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            y[i] += A[i, j] * x[j]
    return y


@njit(cache=True, error_model="numpy")
def sandwich(A, Sigma):
    """A Sigma A', exactly symmetric."""
    half = product(A, Sigma)
    size, inner = A.shape
    after = np.empty((size, size))
    for i in range(size):
        for j in range(i + 1):
            upper, lower = 0.0, 0.0
            for k in range(inner):
                upper += half[i, k] * A[j, k]
                lower += half[j, k] * A[i, k]
            after[i, j] = 0.5 * (upper + lower)
            after[j, i] = after[i, j]
    return after


@njit(cache=True, error_model="numpy")
def add(A, B, factor):
    """A <- A + factor B, of B's upper left part."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] += factor * B[i, j]


@njit(cache=True, error_model="numpy")
def cholesky(S):
    """Lower L with L L' = S, and whether S is finite and positive definite."""
    p = S.shape[0]
    L = np.zeros((p, p))
    for j in range(p):
        for i in range(j, p):
            left = S[i, j]
            for k in range(j):
                left -= L[i, k] * L[j, k]
            if i > j:
                L[i, j] = left / L[j, j]
            elif 0.0 < left < np.inf:
                L[j, j] = np.sqrt(left)
            else:
                return L, False
    return L, True


@njit(cache=True, error_model="numpy")
def solve(L, B):
    """X (p, r) with L L' X = B."""
    p, r = B.shape
    X = B.copy()
    for c in range(r):
        for i in range(p):
            for k in range(i):
                X[i, c] -= L[i, k] * X[k, c]
            X[i, c] /= L[i, i]
        for i in range(p - 1, -1, -1):
            for k in range(i + 1, p):
                X[i, c] -= L[k, i] * X[k, c]
            X[i, c] /= L[i, i]
    return X
