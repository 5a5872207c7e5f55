"""The compiled backward recursion of HiLQR.

All loops run along contiguous rows so that they vectorise, products go to BLAS, and nothing is
allocated per knot. No fast-math: the result is the same bit for bit in every run.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# ruff: noqa: N803, N806 (the letters are the thesis's)


@njit(cache=True)
def _cholesky(H, L):
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


@njit(cache=True)
def _solve_lower(L, Y):
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


@njit(cache=True)
def _solve_lower_transposed(L, Y):
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


@njit(cache=True)
def backward_kernel(
    A, B, l_x, l_u, l_xx, l_ux, l_uu, mu_state, mu_input, feedforward, gains, V_x, V_xx, change
):
    """Recursion (5.8)-(5.15), iLQR's Gauss-Newton form, from knot N to knot 0.

    A (N, n, n) and B (N, n, m) are of the whole timestep, transitions composed in. Fills
    feedforward (N, m), gains (N, m, n), V_x (n,), V_xx (n, n) and change (2,), the two sums of
    (5.19). Returns -1, or the knot whose regularised input Hessian is not positive definite.
    """
    N, n, m = B.shape
    s = n + m
    F = np.empty((n, s))  # [A B]
    W = np.empty((n, s))  # V' F
    G = np.empty((s, s))  # F' V' F
    q = np.empty(s)  # F' V'_x
    FB = np.empty((m, s))  # B' F
    H = np.empty((m, m))  # regularised Q_uu
    L = np.zeros((m, m))
    Y = np.empty((m, n + 1))  # [Q_ux Q_u], then [K k]
    M = np.empty((m, n + 1))
    K = np.empty((m, n))
    T = np.empty((m, n))
    D = np.empty((n, n))
    regularised = mu_state > 0.0 or mu_input > 0.0
    change[:] = 0.0
    V_x[:] = l_x[N]
    V_xx[:] = l_xx[N]
    for k in range(N - 1, -1, -1):
        for i in range(n):
            for j in range(n):
                F[i, j] = A[k, i, j]
            for j in range(m):
                F[i, n + j] = B[k, i, j]
        np.dot(V_xx, F, W)
        np.dot(F.T, W, G)
        np.dot(F.T, V_x, q)
        if mu_state > 0.0:
            np.dot(np.ascontiguousarray(F[:, n:]).T, F, FB)
        for i in range(m):
            gradient = l_u[k, i] + q[n + i]
            q[n + i] = gradient
            M[i, n] = gradient
            Y[i, n] = gradient
            for j in range(n):
                M[i, j] = l_ux[k, i, j] + G[n + i, j]
                Y[i, j] = M[i, j]
            for j in range(m):
                G[n + i, n + j] += l_uu[k, i, j]
                H[i, j] = G[n + i, n + j]
            H[i, i] += mu_input
        if mu_state > 0.0:
            for i in range(m):
                for j in range(n):
                    Y[i, j] += mu_state * FB[i, j]
                for j in range(m):
                    H[i, j] += mu_state * FB[i, n + j]
        if not _cholesky(H, L):
            return k
        _solve_lower(L, Y)
        if not regularised:  # V = Q_xx - Y' Y, with Y = L^-1 Q_ux
            for i in range(m):
                M[i, n] = Y[i, n]
                for j in range(n):
                    K[i, j] = Y[i, j]
            np.dot(K.T, K, D)
        _solve_lower_transposed(L, Y)
        if regularised:  # V = Q_xx + K' Q_uu K + K' Q_ux + Q_ux' K
            for i in range(m):
                for j in range(n):
                    K[i, j] = -Y[i, j]
                    T[i, j] = 2.0 * M[i, j]
                for c in range(m):
                    factor = G[n + i, n + c]
                    for j in range(n):
                        T[i, j] -= factor * Y[c, j]
            np.dot(K.T, T, D)
        for i in range(m):
            feedforward[k, i] = -Y[i, n]
            for j in range(n):
                gains[k, i, j] = -Y[i, j]
        linear = 0.0
        quadratic = 0.0
        for i in range(m):
            curvature = 0.0
            for j in range(m):
                curvature += G[n + i, n + j] * feedforward[k, j]
            linear += feedforward[k, i] * q[n + i]
            quadratic += feedforward[k, i] * curvature
            # what is left of the gradient at the regularised step: Q_u + Q_uu k
            q[n + i] += curvature
        change[0] += linear
        change[1] += 0.5 * quadratic
        for j in range(n):
            V_x[j] = l_x[k, j] + q[j]
        if regularised:
            for i in range(m):
                residual = q[n + i]
                step = feedforward[k, i]
                for j in range(n):
                    V_x[j] += K[i, j] * residual + M[i, j] * step
        else:
            for i in range(m):
                step = M[i, n]
                for j in range(n):
                    V_x[j] -= K[i, j] * step
        sign = 1.0 if regularised else -1.0
        for i in range(n):
            for j in range(i, n):
                value = 0.5 * (G[i, j] + G[j, i] + l_xx[k, i, j] + l_xx[k, j, i])
                value += sign * 0.5 * (D[i, j] + D[j, i])
                V_xx[i, j] = value
                V_xx[j, i] = value
    return -1
