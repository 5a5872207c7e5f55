"""The compiled backward recursion of HiLQR.

All loops run along contiguous rows so that they vectorise, products go to BLAS, and nothing is
allocated per knot. No fast-math: the result is the same bit for bit in every run.

Where positions drift (see ``Drift``), a step is two: y = [A B] [x; u] in all rows but those of the
positions, which keep their values, and then positions += dt velocities. The second step is a few
sums in V, and the products of the first need the other rows only.

Where inputs are bounded, k minimises Q over the box and K has no rows in the inputs that are then
clamped (Tassa, Mansard and Todorov, Control-limited differential dynamic programming, ICRA 2014).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from saltation.arrays import Integers
from saltation.cholesky import factorise, solve_lower, solve_lower_transposed
from saltation.hilqr.bounds import Box
from saltation.hilqr.box_qp import BoxQp, make_box_qp, solve_box_qp
from saltation.hilqr.types import Array, CostExpansion, Drift
from saltation.kernels import kernel

# ruff: noqa: N803, N806 (the letters are the thesis's)


class Maps(NamedTuple):
    """Maps dx <- states[t] dx + pushes[t] du that follow A and B of timestep knots[t], in order."""

    knots: Integers  # (T,)
    states: Array  # (T, n, n)
    pushes: Array  # (T, n, m)


class Damping(NamedTuple):
    """Regularisation as in Tassa et al. 2012."""

    state: float  # added to V'_xx where it enters Q_uu and Q_ux [cost / state^2]
    input: float  # added to Q_uu [cost / input^2]


class Recursion(NamedTuple):
    """Results that the kernel fills."""

    feedforward: Array  # (N, m)
    gains: Array  # (N, m, n)
    V_x: Array  # (n,) at knot 0
    V_xx: Array  # (n, n) at knot 0
    change: Array  # (2,), the two sums of (5.19)


@kernel
def _buffers(r, n, m):
    """Work arrays of a knot of r rows: F, F_u, W, S, V'_x, [A; K], [W; T], and views."""
    s = n + m
    AK, WT = np.empty((r + m, n)), np.empty((r + m, n))
    F, F_u, W = np.empty((r, s)), np.empty((r, m)), np.empty((r, s))
    return F, F_u, W, np.empty((r, r)), np.empty(r), AK, WT, AK[:r], WT[:r], AK[r:], WT[r:]


@kernel
def _stack(A, B, first, last, F):
    """F (r, n+m) <- the rows of [A B] but first to last."""
    n, m = B.shape
    row = 0
    for i in range(n):
        if first <= i < last:
            continue
        for j in range(n):
            F[row, j] = A[i, j]
        for j in range(m):
            F[row, n + j] = B[i, j]
        row += 1


@kernel
def _transit(xi, push, F, W):
    """F <- xi F + [0 push]: (5.25), (5.26)."""
    n, m = push.shape
    np.dot(xi, F, W)
    F[:] = W
    for i in range(n):
        for j in range(m):
            F[i, n + j] += push[i, j]


@kernel
def _take_columns(source, first, out):
    """Out (r, c) <- the columns of source from first on; an assignment of slices is slower."""
    r, c = out.shape
    for i in range(r):
        for j in range(c):
            out[i, j] = source[i, first + j]


@kernel
def _drift(drift: Drift, V_x, V_xx, g, S):
    """V <- V before positions += dt velocities; g (r,) and S (r, r) <- its rows that are driven."""
    first, last, shift, dt = drift
    n, row = len(V_x), 0
    for i in range(first, last):
        V_x[i + shift] += dt * V_x[i]
        for j in range(n):
            V_xx[i + shift, j] += dt * V_xx[i, j]
    for i in range(n):
        if first <= i < last:
            continue
        for j in range(first, last):
            V_xx[i, j + shift] += dt * V_xx[i, j]
        g[row] = V_x[i]
        for j in range(first):
            S[row, j] = V_xx[i, j]
        for j in range(last, n):
            S[row, j - last + first] = V_xx[i, j]
        row += 1


@kernel
def _add_positions(first, last, V_xx, W):
    """W (r, n+m) += the columns of V_xx that multiply the positions, which y takes from x."""
    row = 0
    for i in range(len(V_xx)):
        if first <= i < last:
            continue
        for j in range(first, last):
            W[row, j] += V_xx[i, j]
        row += 1


@kernel
def _products(drift: Drift, drifts, V_x, V_xx, F, rows, W, q):
    """W (r, n+m) <- V' [A B] and q (n+m,) <- [A B]' V'_x; ``rows`` holds those of V that drive."""
    first, last = drift.first, drift.last
    if drifts and first < last:
        g, S = rows
        _drift(drift, V_x, V_xx, g, S)
        np.dot(S, F, W)
        _add_positions(first, last, V_xx, W)
        np.dot(F.T, g, q)
        q[first:last] += V_x[first:last]
    else:
        np.dot(V_xx, F, W)
        np.dot(F.T, V_x, q)


@kernel
def _input_terms(l_u, l_ux, l_uu, U, q, Q_uu, Q):
    """(5.28), (5.30), (5.31): Q_uu (m, m) and Q (m, n+1) <- [Q_ux Q_u]."""
    m, n = l_ux.shape
    for i in range(m):
        Q[i, n] = l_u[i] + q[n + i]
        for j in range(n):
            Q[i, j] = l_ux[i, j] + U[i, j]
        for j in range(m):
            Q_uu[i, j] = l_uu[i, j] + U[i, n + j]


@kernel
def _damp(F_u, F, mu: Damping, Q_uu, Q, E, H, Y):
    """H <- Q_uu + mu.state B'B + mu.input I and Y <- [Q_ux + mu.state B'A, Q_u]."""
    m, n = Q.shape[0], Q.shape[1] - 1
    H[:] = Q_uu
    Y[:] = Q
    for i in range(m):
        H[i, i] += mu.input
    if mu.state > 0.0:
        np.dot(F_u.T, F, E)
        for i in range(m):
            for j in range(n):
                Y[i, j] += mu.state * E[i, j]
            for j in range(m):
                H[i, j] += mu.state * E[i, n + j]


@kernel
def _value_factors(mu: Damping, half, Q, E, Y, K, T):
    """K' T (n, n) is subtracted from Q_xx in (5.15).

    Half solved, Y is L^-1 [Q_ux Q_u], and the factors are Q_ux' L^-T and -L^-1 Q_ux. Otherwise Y
    is -[K k], and K' T = 2 K' Q_ux + K' Q_uu K, which is symmetrised where it is added. As
    (Q_uu + mu.input I + mu.state B'B) K = -(Q_ux + mu.state B'A) in all rows that K has, it needs
    no product with Q_uu.
    """
    m, n = K.shape
    for i in range(m):
        for j in range(n):
            K[i, j] = -Y[i, j]
            T[i, j] = Y[i, j] if half else Q[i, j] + mu.input * Y[i, j]
        if mu.state > 0.0:
            for j in range(n):
                T[i, j] -= mu.state * E[i, j]
            for c in range(m):
                factor = mu.state * E[i, n + c]
                for j in range(n):
                    T[i, j] += factor * Y[c, j]


@kernel
def _solve(mu: Damping, H, L, Q, E, Y, K, T):
    """Y <- H^-1 Y = -[K k], and the factors of ``_value_factors``; False: H is not definite."""
    if not factorise(H, L):
        return False
    solve_lower(L, Y)
    if mu.state > 0.0 or mu.input > 0.0:
        solve_lower_transposed(L, Y)
        _value_factors(mu, False, Q, E, Y, K, T)
    else:
        _value_factors(mu, True, Q, E, Y, K, T)
        solve_lower_transposed(L, Y)
    return True


@kernel
def _solve_in_box(mu: Damping, H, low, high, qp: BoxQp, Q, E, Y, K, T):
    """The same with low <= k <= high, both (m,); K is zero in the inputs that are clamped."""
    m, n = K.shape
    qp.g[:] = Y[:, n]
    if not solve_box_qp(H, low, high, qp):
        return False
    for i in range(m):
        if qp.clamped[i]:
            Y[i] = 0.0
    solve_lower(qp.L, Y)
    solve_lower_transposed(qp.L, Y)
    for i in range(m):
        Y[i, n] = -qp.x[i]
    _value_factors(mu, False, Q, E, Y, K, T)
    return True


@kernel
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


@kernel
def _value(l_x, l_xx, q, first, last, G, V_x, V_xx):
    """V_x (n,) and V_xx (n, n), exactly symmetric, of this knot."""
    n = len(l_x)
    for i in range(first, last):
        for j in range(first, last):
            G[i, j] += V_xx[i, j]
    for i in range(n):
        V_x[i] = l_x[i] + q[i]
        for j in range(n):
            G[i, j] += l_xx[i, j]
    for i in range(n):
        for j in range(i + 1):  # from zero: an index that may be negative costs twice the time
            value = 0.5 * (G[i, j] + G[j, i])
            V_xx[i, j] = value
            V_xx[j, i] = value


@kernel
def backward_kernel(
    A, B, maps: Maps, drift: Drift, cost: CostExpansion, mu: Damping, box: Box, out: Recursion
):  # fmt: skip
    """Recursion (5.8)-(5.15), iLQR's Gauss-Newton form, from knot N to knot 0.

    A (N, n, n) and B (N, n, m) are up to the first transition of each timestep, which ``maps``
    follow. Positions drift in timesteps without maps; none may drift where mu.state is not zero.
    A box (0, m) bounds nothing.

    Fills ``out``. Returns -1, or the knot whose regularised input Hessian is not positive definite.
    """
    N, n, m = B.shape
    first, last = drift.first, drift.last
    l_x, l_u, l_xx, l_ux, l_uu = cost
    feedforward, gains, V_x, V_xx, change = out
    narrow, wide = _buffers(n - last + first, n, m), _buffers(n, n, m)
    U, E = np.empty((m, n + m)), np.empty((m, n + m))  # B' V' [A B], B' [A B]
    q, G = np.empty(n + m), np.empty((n, n))  # [A B]' V'_x, A' V' A + K' T
    Q_uu, H, L = np.empty((m, m)), np.empty((m, m)), np.zeros((m, m))
    Q, Y = np.empty((m, n + 1)), np.empty((m, n + 1))
    bounded, qp = len(box.low) > 0, make_box_qp(m)
    change[:] = 0.0
    V_x[:] = l_x[N]
    V_xx[:] = l_xx[N]
    later = len(maps.knots)  # the first map of a later knot
    for k in range(N - 1, -1, -1):
        own = later
        while own > 0 and maps.knots[own - 1] == k:
            own -= 1
        begin, end = (first, last) if own == later else (0, 0)
        F, F_u, W, S, g, AK, WT, A_rows, W_rows, K, T = narrow if own == later else wide
        _stack(A[k], B[k], begin, end, F)
        for t in range(own, later):
            _transit(maps.states[t], maps.pushes[t], F, W)
        _take_columns(F, n, F_u)
        _products(drift, own == later, V_x, V_xx, F, (g, S), W, q)
        later = own
        np.dot(F_u.T, W, U)
        _input_terms(l_u[k], l_ux[k], l_uu[k], U, q, Q_uu, Q)
        _damp(F_u, F, mu, Q_uu, Q, E, H, Y)
        if bounded:
            solved = _solve_in_box(mu, H, box.low[k], box.high[k], qp, Q, E, Y, K, T)
        else:
            solved = _solve(mu, H, L, Q, E, Y, K, T)
        if not solved:
            return k
        if begin < end:
            _add_positions(begin, end, V_xx, W)  # again, for its transpose: G is symmetrised
        _take_columns(F, 0, A_rows)
        _take_columns(W, 0, W_rows)
        np.dot(AK.T, WT, G)
        _policy(Q_uu, Q, Y, q, feedforward[k], gains[k], change)
        _value(l_x[k], l_xx[k], q, begin, end, G, V_x, V_xx)
    return -1
