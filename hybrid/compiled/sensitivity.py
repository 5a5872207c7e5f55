"""Kernels of first-order flow maps: ``hybrid.integration.flow_jacobians`` for compiled systems."""

# ruff: noqa: N806 (K is the table of Runge-Kutta slopes, A and B are the thesis's)

from __future__ import annotations

import numpy as np
from numba import njit

from hybrid.compiled.limits import Limits
from hybrid.compiled.location import STEP
from hybrid.compiled.runge_kutta import NODES, error_ratio, finite, put, resized, stage
from hybrid.compiled.system import CompiledDerivatives


@njit(cache=True, error_model="numpy")
def field(d: CompiledDerivatives, mode, t, y, n, m, u):
    """Right-hand side of the state and its sensitivities (3.1), flattened: (n + n (n + m),)."""
    x, slope = y[:n].copy(), np.zeros(len(y))
    put(slope, d.flows[mode](t, x, u))
    by_state = d.flow_states[mode](t, x, u) if d.given[0] else difference(d, mode, t, x, u, True)
    by_input = by_state
    if m > 0:
        by_input = (
            d.flow_inputs[mode](t, x, u) if d.given[1] else difference(d, mode, t, x, u, False)
        )
    width = n + m
    for i in range(n):
        for j in range(width):
            rate = by_input[i, j - n] if j >= n else 0.0
            for k in range(n):
                rate += by_state[i, k] * y[n + k * width + j]
            slope[n + i * width + j] = rate
    return slope


@njit(cache=True, error_model="numpy")
def difference(d: CompiledDerivatives, mode, t, x, u, by_state):
    """D_x F (n, n) or D_u F (n, m) by central differences."""
    size = len(x) if by_state else len(u)
    matrix = np.empty((len(x), size))
    for i in range(size):
        ahead = x.copy() if by_state else u.copy()
        behind = ahead.copy()
        h = STEP * max(1.0, abs(ahead[i]))
        ahead[i] += h
        behind[i] -= h
        if by_state:
            change = d.flows[mode](t, ahead, u) - d.flows[mode](t, behind, u)
        else:
            change = d.flows[mode](t, x, ahead) - d.flows[mode](t, x, behind)
        for j in range(len(x)):
            matrix[j, i] = change[j] / (2.0 * h)
    return matrix


@njit(cache=True, error_model="numpy")
def jacobians(d: CompiledDerivatives, mode, t, x, u, duration, limits: Limits):
    """D_x (n, n) and D_u (n, m) of the flow over a duration [s] with the input held."""
    n, m = len(x), len(u)
    y = np.zeros(n + n * (n + m))
    put(y, x)
    for i in range(n):
        y[n + i * (n + m) + i] = 1.0
    K = np.empty((7, len(y)))
    h, end_time = duration, t + duration
    for _ in range(limits.max_steps):
        if t == end_time or not finite(y):
            break
        left = end_time - t
        h = left if abs(left) < abs(h) else h
        end = y
        for i in range(7):
            end = stage(i, y, h, K)
            put(K[i], field(d, mode, t + NODES[i] * h, end, n, m, u))
        size = error_ratio(y, end, h, K, limits)
        if size <= 1.0 or abs(h) <= limits.min_step:
            t = end_time if h == left else t + h
            y = end
        h *= resized(size)
    A, B = np.empty((n, n)), np.empty((n, m))
    for i in range(n):
        for j in range(n + m):
            value = y[n + i * (n + m) + j] if t == end_time else np.nan
            if j < n:
                A[i, j] = value
            else:
                B[i, j - n] = value
    return A, B


@njit(cache=True, error_model="numpy", nogil=True)
def jacobians_all(d, modes, dims, times, states, inputs, durations, limits, A, B):
    """Write A (K, n, n) and B (K, n, m) of K pieces of flow; they must come filled with zeros."""
    for k in range(len(modes)):
        n = dims[modes[k]]
        x = states[k, :n].copy()
        a, b = jacobians(d, modes[k], times[k], x, inputs[k], durations[k], limits)
        for i in range(n):
            put(A[k, i], a[i])
            put(B[k, i], b[i])
