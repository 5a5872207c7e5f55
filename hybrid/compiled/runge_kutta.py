"""Kernels of integration: one step by Dormand and Prince's method, its error and dense output.

Arrays are written by loops: numba takes seconds to compile an array assignment.
"""

# ruff: noqa: N803, N806 (K is the table of Runge-Kutta slopes, C the step's polynomial)

from __future__ import annotations

import numpy as np
from numba import njit

from hybrid.compiled.calls import put, rate
from hybrid.compiled.limits import Limits

NODES = np.array([0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0])
STAGES = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1 / 5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [3 / 40, 9 / 40, 0.0, 0.0, 0.0, 0.0, 0.0],
        [44 / 45, -56 / 15, 32 / 9, 0.0, 0.0, 0.0, 0.0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0.0, 0.0, 0.0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0.0, 0.0],
        [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0],
    ]
)
ERROR = np.array([71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])
# Of the continuous extension: Hairer, Norsett, Wanner, Solving ODEs I, II.6 (Shampine 1986).
DENSE = np.array(
    [
        -12715105075 / 11282082432,
        0.0,
        87487479700 / 32700410799,
        -10690763975 / 1880347072,
        701980252875 / 199316789632,
        -1453857185 / 822651844,
        69997945 / 29380423,
    ]
)


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
def polynomial(x, end, h, K, C):
    """Fill C (4, n) with the continuous extension of a step; see ``dense_output``."""
    for i in range(len(x)):
        bend = 0.0
        for j in range(7):
            bend += DENSE[j] * K[j, i]
        C[0, i] = end[i] - x[i]
        C[1, i] = h * K[0, i] - C[0, i]
        C[2, i] = C[0, i] - h * K[6, i] - C[1, i]
        C[3, i] = h * bend


@njit(cache=True, error_model="numpy")
def dense_output(x, C, part):
    """State (n,) at a part in [0, 1] of a step from x, of fourth order."""
    value, rest = x.copy(), 1.0 - part
    for i in range(len(x)):
        value[i] += part * (C[0, i] + rest * (C[1, i] + part * (C[2, i] + rest * C[3, i])))
    return value


@njit(cache=True, error_model="numpy")
def dormand_prince(s, mode, t, x, u, h, K):
    """One step of h [s]: the fifth-order end (n,). K (7, n) is filled; K[0] must be F(t, x)."""
    end = x.copy()
    for i in range(1, 7):
        for k in range(len(x)):
            change = 0.0
            for j in range(i):
                change += STAGES[i, j] * K[j, k]
            end[k] = x[k] + h * change
        put(K[i], rate(s, mode, t + NODES[i] * h, end, u))
    return end


@njit(cache=True, error_model="numpy")
def first_step(s, mode, t, x, u, longest, slope, limits: Limits):
    """Length of a first step [s], with the sign of ``longest``; Hairer, Norsett, Wanner, II.4.

    The longest where the flow is below the tolerance.
    """
    state_size = slope_size = change = 0.0
    for i in range(len(x)):
        scale = limits.absolute + limits.relative * abs(x[i])
        state_size = max(state_size, abs(x[i]) / scale)
        slope_size = max(slope_size, abs(slope[i]) / scale)
    if slope_size * abs(longest) < 1e-5:
        return longest
    h = min(1e-6 if state_size < 1e-5 else 0.01 * state_size / slope_size, abs(longest))
    sign = 1.0 if longest >= 0.0 else -1.0
    end = x.copy()
    for i in range(len(x)):
        end[i] += sign * h * slope[i]
    following = rate(s, mode, t + sign * h, end, u)
    for i in range(len(x)):
        scale = limits.absolute + limits.relative * abs(x[i])
        change = max(change, abs(following[i] - slope[i]) / scale / h)
    steepest = max(slope_size, change)
    second = max(1e-6, 1e-3 * h) if steepest <= 1e-15 else (0.01 / steepest) ** 0.2
    trial = min(100.0 * h, second) if np.isfinite(second) else h
    return sign * min(trial, abs(longest))
