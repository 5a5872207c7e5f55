"""Kernels of first-order flow maps: ``hybrid.integration.flow_jacobians`` for compiled systems."""

# ruff: noqa: N806 (K is the table of Runge-Kutta slopes, A and B are the thesis's)

from __future__ import annotations

import numpy as np
from numba import njit

from hybrid.compiled.step import STEP, Limits
from hybrid.compiled.system import CompiledDerivatives


@njit(cache=True)
def field(d: CompiledDerivatives, mode, t, y, n, m, u):
    """Right-hand side of the state and its sensitivities (3.1), flattened: (n + n (n + m),)."""
    x = y[:n].copy()
    sensitivity = y[n:].copy().reshape(n, n + m)
    rate = np.zeros((n, n + m))
    if d.given[0]:
        rate += d.flow_states[mode](t, x, u) @ sensitivity
    else:
        rate += difference(d, mode, t, x, u, True) @ sensitivity
    if m > 0:
        if d.given[1]:
            rate[:, n:] += d.flow_inputs[mode](t, x, u)
        else:
            rate[:, n:] += difference(d, mode, t, x, u, False)
    slope = np.empty(len(y))
    slope[:n] = d.flows[mode](t, x, u)
    slope[n:] = rate.ravel()
    return slope


@njit(cache=True)
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
        matrix[:, i] = change / (2.0 * h)
    return matrix


@njit(cache=True)
def step(d: CompiledDerivatives, mode, t, y, n, m, u, h, K):
    """One Dormand-Prince step of the state and its sensitivities; K (7, size) are the slopes."""
    K[0] = field(d, mode, t, y, n, m, u)
    K[1] = field(d, mode, t + h / 5, y + h * (K[0] / 5), n, m, u)
    K[2] = field(d, mode, t + 3 * h / 10, y + h * (3 / 40 * K[0] + 9 / 40 * K[1]), n, m, u)
    end = y + h * (44 / 45 * K[0] - 56 / 15 * K[1] + 32 / 9 * K[2])
    K[3] = field(d, mode, t + 4 * h / 5, end, n, m, u)
    end = 19372 / 6561 * K[0] - 25360 / 2187 * K[1] + 64448 / 6561 * K[2] - 212 / 729 * K[3]
    K[4] = field(d, mode, t + 8 * h / 9, y + h * end, n, m, u)
    end = 9017 / 3168 * K[0] - 355 / 33 * K[1] + 46732 / 5247 * K[2] + 49 / 176 * K[3]
    K[5] = field(d, mode, t + h, y + h * (end - 5103 / 18656 * K[4]), n, m, u)
    end = 35 / 384 * K[0] + 500 / 1113 * K[2] + 125 / 192 * K[3]
    end = y + h * (end - 2187 / 6784 * K[4] + 11 / 84 * K[5])
    K[6] = field(d, mode, t + h, end, n, m, u)
    return end


@njit(cache=True)
def jacobians(d: CompiledDerivatives, mode, t, x, u, duration, limits: Limits):
    """D_x (n, n) and D_u (n, m) of the flow over a duration [s] with the input held."""
    n, m = len(x), len(u)
    y = np.zeros(n + n * (n + m))
    y[:n] = x
    for i in range(n):
        y[n + i * (n + m) + i] = 1.0
    K = np.empty((7, len(y)))
    h, end_time = duration, t + duration
    for _ in range(limits.max_steps):
        if t == end_time or not np.all(np.isfinite(y)):
            break
        left = end_time - t
        h = left if abs(left) < abs(h) else h
        end = step(d, mode, t, y, n, m, u, h, K)
        error = 71 / 57600 * K[0] - 71 / 16695 * K[2] + 71 / 1920 * K[3]
        error += -17253 / 339200 * K[4] + 22 / 525 * K[5] - K[6] / 40
        scale = limits.absolute + limits.relative * np.maximum(np.abs(y), np.abs(end))
        size = np.max(np.abs(h * error) / scale)
        if size <= 1.0 or abs(h) <= limits.min_step:
            t = end_time if h == left else t + h
            y = end
            h *= 5.0 if size == 0.0 else min(5.0, 0.9 * size**-0.2)
        else:
            h *= max(0.2, 0.9 * size**-0.2) if np.isfinite(size) else 0.2
    if t != end_time:
        y[:] = np.nan
    whole = y[n:].reshape(n, n + m)
    return whole[:, :n].copy(), whole[:, n:].copy()


@njit(cache=True, nogil=True)
def jacobians_all(d, modes, dims, times, states, inputs, durations, limits, A, B):
    """Fill A (K, n, n) and B (K, n, m) for K pieces of flow, padded with zeros."""
    for k in range(len(modes)):
        n = dims[modes[k]]
        x = states[k, :n].copy()
        a, b = jacobians(d, modes[k], times[k], x, inputs[k], durations[k], limits)
        A[k], B[k] = 0.0, 0.0
        A[k, :n, :n], B[k, :n] = a, b
