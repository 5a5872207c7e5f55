"""The compiled backward recursion of HiLQR.

All loops run along contiguous rows so that they vectorise, products go to BLAS, and nothing is
allocated per knot. No fast-math: the result is the same bit for bit in every run.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hybrid.cholesky import factorise, solve_lower, solve_lower_transposed

# ruff: noqa: N803, N806 (the letters are the thesis's)


@njit(cache=True)
def _stack(A, B, F):
    """F (n, n+m) <- [A B]."""
    n, m = B.shape
    for i in range(n):
        for j in range(n):
            F[i, j] = A[i, j]
        for j in range(m):
            F[i, n + j] = B[i, j]


@njit(cache=True)
def _input_terms(l_u, l_ux, l_uu, G, q, Q_uu, Q):
    """(5.28), (5.30), (5.31): Q_uu (m, m) and Q (m, n+1) <- [Q_ux Q_u]."""
    m, n = l_ux.shape
    for i in range(m):
        Q[i, n] = l_u[i] + q[n + i]
        for j in range(n):
            Q[i, j] = l_ux[i, j] + G[n + i, j]
        for j in range(m):
            Q_uu[i, j] = l_uu[i, j] + G[n + i, n + j]


@njit(cache=True)
def _damp(B, F, mu_state, mu_input, Q_uu, Q, E, H, Y):
    """H <- Q_uu + mu_state B'B + mu_input I and Y <- [Q_ux + mu_state B'A, Q_u]."""
    m, n = Q.shape[0], Q.shape[1] - 1
    H[:] = Q_uu
    Y[:] = Q
    for i in range(m):
        H[i, i] += mu_input
    if mu_state > 0.0:
        np.dot(B.T, F, E)
        for i in range(m):
            for j in range(n):
                Y[i, j] += mu_state * E[i, j]
            for j in range(m):
                H[i, j] += mu_state * E[i, n + j]


@njit(cache=True)
def _value_factors(damped, Q_uu, Q, Y, K, T):
    """K' T (n, n) is what the policy takes off Q_xx in (5.15).

    Undamped, Y is L^-1 [Q_ux Q_u], and the factors are Q_ux' L^-T and -L^-1 Q_ux. Damped, Y is
    -[K k], and K' T = 2 K' Q_ux + K' Q_uu K, which is symmetrised where it is added.
    """
    m, n = K.shape
    for i in range(m):
        for j in range(n):
            K[i, j] = -Y[i, j]
            T[i, j] = 2.0 * Q[i, j] if damped else Y[i, j]
        if damped:
            for c in range(m):
                factor = Q_uu[i, c]
                for j in range(n):
                    T[i, j] -= factor * Y[c, j]


@njit(cache=True)
def _policy(Q_uu, Q, Y, q, feedforward, gains, change):
    """Store k and K, add to (5.19), and turn q[:n] into V_x less its running cost (5.14)."""
    m, n = gains.shape
    for i in range(m):
        feedforward[i] = -Y[i, n]
        for j in range(n):
            gains[i, j] = -Y[i, j]
    for i in range(m):
        curvature = 0.0
        for j in range(m):
            curvature += Q_uu[i, j] * feedforward[j]
        step, residual = feedforward[i], Q[i, n] + curvature
        change[0] += step * Q[i, n]
        change[1] += 0.5 * step * curvature
        for j in range(n):
            q[j] += Q[i, j] * step + gains[i, j] * residual


@njit(cache=True)
def _value(l_x, l_xx, q, G, D, V_x, V_xx):
    """V_x (n,) and V_xx (n, n), exactly symmetric, of this knot."""
    n = len(l_x)
    for i in range(n):
        V_x[i] = l_x[i] + q[i]
        for j in range(i, n):
            value = G[i, j] + G[j, i] + l_xx[i, j] + l_xx[j, i] + D[i, j] + D[j, i]
            V_xx[i, j] = 0.5 * value
            V_xx[j, i] = 0.5 * value


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
    F, W = np.empty((n, s)), np.empty((n, s))  # [A B], V' [A B]
    G, E = np.empty((s, s)), np.empty((m, s))  # F' V' F, B' F
    q = np.empty(s)  # F' V'_x
    Q_uu, H, L = np.empty((m, m)), np.empty((m, m)), np.zeros((m, m))
    Q, Y = np.empty((m, n + 1)), np.empty((m, n + 1))
    K, T, D = np.empty((m, n)), np.empty((m, n)), np.empty((n, n))
    damped = mu_state > 0.0 or mu_input > 0.0
    change[:] = 0.0
    V_x[:] = l_x[N]
    V_xx[:] = l_xx[N]
    for k in range(N - 1, -1, -1):
        _stack(A[k], B[k], F)
        np.dot(V_xx, F, W)
        np.dot(F.T, W, G)
        np.dot(F.T, V_x, q)
        _input_terms(l_u[k], l_ux[k], l_uu[k], G, q, Q_uu, Q)
        _damp(B[k], F, mu_state, mu_input, Q_uu, Q, E, H, Y)
        if not factorise(H, L):
            return k
        solve_lower(L, Y)
        if not damped:
            _value_factors(False, Q_uu, Q, Y, K, T)
        solve_lower_transposed(L, Y)
        if damped:
            _value_factors(True, Q_uu, Q, Y, K, T)
        np.dot(K.T, T, D)
        _policy(Q_uu, Q, Y, q, feedforward[k], gains[k], change)
        _value(l_x[k], l_xx[k], q, G, D, V_x, V_xx)
    return -1
