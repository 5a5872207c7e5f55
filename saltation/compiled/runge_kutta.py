"""Kernels of integration: one step by Dormand and Prince's method, its error and dense output.

DOP853: order 8, with error estimates of orders 5 and 3 and dense output of order 7. Source: Hairer,
Norsett, Wanner, Solving Ordinary Differential Equations I, II.5, II.6 and II.10. Arrays are written
by loops: numba takes seconds to compile an array assignment.
"""

# ruff: noqa: N803, N806 (K is the table of Runge-Kutta slopes, C the step's polynomial)

from __future__ import annotations

import numpy as np
from scipy.integrate import DOP853

from saltation.compiled.calls import put, rate
from saltation.compiled.limits import Limits
from saltation.kernels import kernel
from saltation.systems import Array

LAST = 12  # stage at the end of a step; three more are for the dense output alone
ALL = 16
DEGREE = 7  # of the dense output
ORDER = 8
PASSING = 1e-2  # of the largest value: what a state that passes zero counts as
NODES = np.concatenate([DOP853.C, [1.0], DOP853.C_EXTRA])
STAGES = np.zeros((ALL, ALL))
STAGES[:LAST, :LAST], STAGES[LAST, :LAST] = DOP853.A, DOP853.B
STAGES[LAST + 1 :] = DOP853.A_EXTRA
FIFTH, THIRD = DOP853.E5.copy(), DOP853.E3.copy()  # errors of embedded methods
DENSE = DOP853.D.copy()


@kernel
def finite(x):
    """Whether all of x is finite."""
    for value in x:
        if not np.isfinite(value):
            return False
    return True


@kernel
def stages(s, mode, t, x, u, h, K, first, last):
    """Fill rows ``first`` to ``last`` of K (ALL, n) of a step of h [s]; the last one's state."""
    end = x.copy()
    for i in range(first, last + 1):
        for k in range(len(x)):
            change = 0.0
            for j in range(i):
                change += STAGES[i, j] * K[j, k]
            end[k] = x[k] + h * change
        put(K[i], rate(s, mode, t + NODES[i] * h, end, u))
    return end


@kernel
def dormand_prince(s, mode, t, x, u, h, K):
    """One step of h [s]: its end (n,). Rows of K (ALL, n) are filled; K[0] must be F(t, x)."""
    return stages(s, mode, t, x, u, h, K, 1, LAST)


@kernel
def allowed_error(y, end, typical, floor, limits: Limits):
    """Error that a step from y to ``end`` may make; ``typical`` is the largest value so far."""
    size = max(abs(y), abs(end), PASSING * typical)
    return limits.absolute + limits.relative * size + floor


@kernel
def estimate_errors(h, K, errors):
    """Write the error (n,) of a step of h [s]; NaN where it is not finite."""
    for k in range(len(errors)):
        fifth = third = 0.0
        for j in range(LAST + 1):
            fifth += FIFTH[j] * K[j, k]
            third += THIRD[j] * K[j, k]
        both = fifth * fifth + 0.01 * third * third
        errors[k] = 0.0 if both == 0.0 else abs(h) * fifth * fifth / np.sqrt(both)


@kernel
def error_ratio(y, end, errors, typical, floor, limits: Limits):
    """Largest error of a step over what it may be; NaN where the step is not finite."""
    size = 0.0
    for k in range(len(y)):
        ratio = 0.0
        if errors[k] != 0.0:
            ratio = errors[k] / allowed_error(y[k], end[k], typical[k], floor, limits)
        if not (ratio <= size or np.isnan(size)):  # a NaN is larger, and stays
            size = ratio
    return size


@kernel
def resized(size, order):
    """Factor by which an error ratio of a method of an order changes the step."""
    if size <= 1.0:
        return 10.0 if size == 0.0 else min(10.0, 0.9 * size ** (-1.0 / order))
    return max(0.2, 0.9 * size ** (-1.0 / order)) if np.isfinite(size) else 0.2


@kernel
def polynomial(s, mode, t, x, u, h, end, K, C):
    """Fill C (DEGREE, n) with the continuous extension of a step; see ``dense_output``."""
    stages(s, mode, t, x, u, h, K, LAST + 1, ALL - 1)
    for k in range(len(x)):
        change = end[k] - x[k]
        C[0, k] = change
        C[1, k] = h * K[0, k] - change
        C[2, k] = 2.0 * change - h * (K[LAST, k] + K[0, k])
        for i in range(4):
            bend = 0.0
            for j in range(ALL):
                bend += DENSE[i, j] * K[j, k]
            C[3 + i, k] = h * bend


@kernel
def dense_output(x, C, part, state):
    """Write ``state`` (n,) at a part in [0, 1] of a step from x, of seventh order."""
    rest = 1.0 - part
    for k in range(len(x)):
        y = C[6, k] * part
        y = (y + C[5, k]) * rest
        y = (y + C[4, k]) * part
        y = (y + C[3, k]) * rest
        y = (y + C[2, k]) * part
        y = (y + C[1, k]) * rest
        state[k] = x[k] + (y + C[0, k]) * part


def dense_states(x: Array, C: Array, part: Array) -> Array:
    """``dense_output`` of many steps or parts: x (..., n), C (..., DEGREE, n), part (..., 1)."""
    change = np.zeros(1)
    for i in reversed(range(DEGREE)):
        change = (change + C[..., i, :]) * (part if i % 2 == 0 else 1.0 - part)
    return x + change


@kernel
def dense_slope(C, k, part):
    """Derivative of ``dense_output`` by the part of the step, of the state's k-th number."""
    y, slope = C[6, k] * part, C[6, k]
    for i in range(5, -1, -1):
        factor, sign = (part, 1.0) if i % 2 == 0 else (1.0 - part, -1.0)
        y += C[i, k]
        slope = slope * factor + sign * y
        y *= factor
    return slope


@kernel
def first_step(s, mode, t, x, u, longest, slope, limits: Limits):
    """Length of a first step [s], with the sign of ``longest``; Hairer, Norsett, Wanner, II.4.

    The longest where the flow is below the tolerance.
    """
    state_size = slope_size = change = 0.0
    for i in range(len(x)):
        scale = allowed_error(x[i], longest * slope[i], 0.0, 1e-300, limits)
        state_size = max(state_size, abs(x[i]) / scale)
        slope_size = max(slope_size, abs(slope[i]) / scale)
    if slope_size * abs(longest) < 1e-5:
        return longest
    pace = 1e-4 * abs(longest) if state_size < 1e-5 else state_size / slope_size
    h = min(0.01 * pace, abs(longest))
    sign = 1.0 if longest >= 0.0 else -1.0
    end = x.copy()
    for i in range(len(x)):
        end[i] += sign * h * slope[i]
    following = rate(s, mode, t + sign * h, end, u)
    for i in range(len(x)):
        steeper = max(abs(slope[i]), abs(following[i]))
        scale = allowed_error(x[i], longest * steeper, 0.0, 1e-300, limits)
        change = max(change, abs(following[i] - slope[i]) / scale / h)
    steepest = pace * max(slope_size, pace * change)
    second = pace * (0.01 / steepest) ** (1.0 / ORDER)
    trial = min(100.0 * h, second) if np.isfinite(second) else h
    return sign * min(trial, abs(longest))
