"""Small dense matrices in kernels: loops beat BLAS at these sizes and need no threads."""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

import numpy as np

from saltation.cholesky import factorise, solve_lower, solve_lower_transposed
from saltation.kernels import kernel


@kernel
def product(A, B):
    """A B."""
    C = np.zeros((A.shape[0], B.shape[1]))
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            factor = A[i, k]
            if factor != 0.0:
                for j in range(B.shape[1]):
                    C[i, j] += factor * B[k, j]
    return C


@kernel
def times(A, x):
    """A x."""
    y = np.zeros(A.shape[0])
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            y[i] += A[i, j] * x[j]
    return y


@kernel
def sandwich(A, Sigma):
    """A Sigma A', exactly symmetric."""
    half = product(A, Sigma)
    size, inner = A.shape
    result = np.empty((size, size))
    for i in range(size):
        for j in range(i + 1):
            upper, lower = 0.0, 0.0
            for k in range(inner):
                upper += half[i, k] * A[j, k]
                lower += half[j, k] * A[i, k]
            result[i, j] = result[j, i] = 0.5 * (upper + lower)
    return result


@kernel
def add(A, B, factor):
    """A <- A + factor B, of B's upper left part."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] += factor * B[i, j]


@kernel
def cholesky(S):
    """Lower L with L L' = S, and whether S is finite and positive definite."""
    L = np.zeros(S.shape)
    return L, factorise(S, L)


@kernel
def solve(L, B):
    """X (p, r) with L L' X = B."""
    X = B.copy()
    solve_lower(L, X)
    solve_lower_transposed(L, X)
    return X
