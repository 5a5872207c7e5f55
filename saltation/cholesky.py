"""Cholesky's factorisation and its triangular solves for small matrices, compiled.

All loops run along contiguous rows, so that they vectorise, and nothing is allocated.
"""

from __future__ import annotations

import numpy as np

from saltation.kernels import kernel

# ruff: noqa: N803 (the letters are the textbooks')


@kernel
def factorise(H, L):
    """Lower factor of H (m, m) into L. False when H is not positive definite (or not finite)."""
    m = H.shape[0]
    for j in range(m):
        for i in range(j, m):
            L[i, j] = H[i, j]
    for j in range(m):
        pivot = L[j, j]
        if not (pivot > 0.0 and pivot < np.inf):
            return False
        root = np.sqrt(pivot)
        L[j, j] = root
        inverse = 1.0 / root
        for i in range(j + 1, m):
            L[i, j] *= inverse
        for i in range(j + 1, m):
            factor = L[i, j]
            for k in range(j + 1, i + 1):
                L[i, k] -= factor * L[k, j]
    return True


@kernel
def solve_lower(L, Y):
    """Y (m, r) <- L^-1 Y."""
    m, r = Y.shape
    for i in range(m):
        for j in range(i):
            factor = L[i, j]
            for c in range(r):
                Y[i, c] -= factor * Y[j, c]
        inverse = 1.0 / L[i, i]
        for c in range(r):
            Y[i, c] *= inverse


@kernel
def solve_lower_transposed(L, Y):
    """Y (m, r) <- L^-T Y."""
    m, r = Y.shape
    for i in range(m - 1, -1, -1):
        for j in range(i + 1, m):
            factor = L[j, i]
            for c in range(r):
                Y[i, c] -= factor * Y[j, c]
        inverse = 1.0 / L[i, i]
        for c in range(r):
            Y[i, c] *= inverse
