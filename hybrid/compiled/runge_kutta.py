"""Kernels of integration: ``hybrid.integration`` for compiled systems.

Arrays are written by loops: numba takes seconds to compile an array assignment.
"""

# ruff: noqa: N803 (K is the table of Runge-Kutta slopes)

from __future__ import annotations

import numpy as np
from numba import njit

from hybrid import integration
from hybrid.compiled.limits import Limits
from hybrid.compiled.system import CompiledSystem

NODES, ERROR, DENSE = integration.NODES, integration.ERROR, integration.DENSE
STAGES = np.zeros((7, 7))
for _i, _row in enumerate(integration.STAGES):
    STAGES[_i, : len(_row)] = _row


@njit(cache=True, error_model="numpy")
def put(row, x):
    """Write x at the start of a row."""
    for i in range(len(x)):
        row[i] = x[i]


@njit(cache=True, error_model="numpy")
def finite(x):
    """Whether all of x is finite."""
    for value in x:
        if not np.isfinite(value):
            return False
    return True


@njit(cache=True, error_model="numpy")
def stage(i, y, h, K):
    """State (n,) at stage i of a step: y + h sum_j a_ij K_j."""
    end = y.copy()
    for j in range(i):
        if STAGES[i, j] != 0.0:
            for k in range(len(y)):
                end[k] += h * STAGES[i, j] * K[j, k]
    return end


@njit(cache=True, error_model="numpy")
def error_ratio(y, end, h, K, limits: Limits):
    """Largest error of a step over what it may be; NaN where the step is not finite."""
    size = 0.0
    for k in range(len(y)):
        error = 0.0
        for j in range(7):
            error += ERROR[j] * K[j, k]
        ratio = abs(h * error) / (limits.absolute + limits.relative * max(abs(y[k]), abs(end[k])))
        if not (ratio <= size or np.isnan(size)):  # a NaN is larger, and stays
            size = ratio
    return size


@njit(cache=True, error_model="numpy")
def resized(size):
    """Factor by which an error ratio changes the step."""
    if size <= 1.0:
        return 5.0 if size == 0.0 else min(5.0, 0.9 * size**-0.2)
    return max(0.2, 0.9 * size**-0.2) if np.isfinite(size) else 0.2


@njit(cache=True, error_model="numpy")
def dormand_prince(s: CompiledSystem, mode, t, x, u, h, K):
    """One step of h [s]: the fifth-order end (n,); K (7, n) is filled with the slopes."""
    flow, end = s.flows[mode], x
    for i in range(7):
        end = stage(i, x, h, K)
        put(K[i], flow(t + NODES[i] * h, end, u))
        for k in range(len(x)):
            K[i, k] += s.disturbance[k]
    return end


@njit(cache=True, error_model="numpy")
def advance(s: CompiledSystem, mode, t, x, u, h, limits: Limits):
    """First accepted step of at most h [s]: (end, step taken, next step to try)."""
    K = np.empty((7, len(x)))
    h = np.copysign(min(abs(h), limits.max_step), h)
    while True:
        end = dormand_prince(s, mode, t, x, u, h, K)
        size = error_ratio(x, end, h, K, limits)
        if size <= 1.0 or abs(h) <= limits.min_step:
            return end, h, h * resized(min(size, 1.0))
        h *= resized(size)


@njit(cache=True, error_model="numpy")
def flow_for(s: CompiledSystem, mode, t, x, u, duration, limits: Limits):
    """State after a duration [s], which may be negative, in one mode; NaN when it has none."""
    h, end = duration, t + duration
    for _ in range(limits.max_steps):
        if t == end or not finite(x):
            return x
        left = end - t
        trial = left if abs(left) < abs(h) else h
        x, taken, h = advance(s, mode, t, x, u, trial, limits)
        t = end if taken == left else t + taken
    return x if t == end else np.full_like(x, np.nan)
