"""Kernels that find where a step meets a guard: ``hybrid.event_location`` compiled."""

# ruff: noqa: N803 (K is the table of Runge-Kutta slopes)

from __future__ import annotations

import numpy as np
from numba import njit

from hybrid.compiled.limits import APART, GRAZING, NOT_FINITE, OK, Limits
from hybrid.compiled.runge_kutta import dormand_prince
from hybrid.compiled.system import CompiledSystem

STEP = np.finfo(np.float64).eps ** (1 / 3)  # of a central difference


@njit(cache=True, error_model="numpy")
def guard_rate(s: CompiledSystem, mode, e, t, x, u):
    """d/dt g along the flow (3.11), by a central difference along it."""
    slope, ahead, behind, largest = x.copy(), x.copy(), x.copy(), 1.0
    flow = s.flows[mode](t, x, u)
    for i in range(len(x)):
        slope[i] = flow[i] + s.disturbance[i]
        largest = max(largest, abs(slope[i]))
    h = STEP / largest
    for i in range(len(x)):
        ahead[i] += h * slope[i]
        behind[i] -= h * slope[i]
    return (s.guards[e](t + h, ahead, u) - s.guards[e](t - h, behind, u)) / (2.0 * h)


@njit(cache=True, error_model="numpy")
def guard_after(s: CompiledSystem, mode, e, t, x, u, h, K):
    """Guard e at the end of a step of h [s] from (t, x)."""
    return s.guards[e](t + h, dormand_prince(s, mode, t, x, u, h, K), u)


@njit(cache=True, error_model="numpy")
def locate(s: CompiledSystem, mode, e, t, x, u, low, high, K, limits: Limits):
    """Length of the step from (t, x) that ends on guard e, which is crossed from low to high.

    Newton's method on the guard's rate, with bisection wherever it leaves the bracket.
    """
    above = guard_after(s, mode, e, t, x, u, low, K)
    below = guard_after(s, mode, e, t, x, u, high, K)
    if below >= 0.0:
        return high
    h = high - below * (high - low) / (below - above)
    for _ in range(100):
        end = dormand_prince(s, mode, t, x, u, h, K)
        g = s.guards[e](t + h, end, u)
        if g > 0.0:
            low = h
        else:
            high = h
        following = h - g / guard_rate(s, mode, e, t + h, end, u)
        if g == 0.0 or high - low <= limits.event_time:
            return h
        if low <= following <= high:
            if abs(following - h) <= limits.event_time:
                return following
            h = following
        else:
            h = 0.5 * (low + high)
    return h


@njit(cache=True, error_model="numpy")
def turning(s: CompiledSystem, mode, e, t, x, u, taken, K, limits: Limits):
    """Length of the step at which guard e, positive at both ends, is lowest."""
    low, high = 0.0, taken
    for _ in range(60):
        middle = 0.5 * (low + high)
        end = dormand_prince(s, mode, t, x, u, middle, K)
        if guard_rate(s, mode, e, t + middle, end, u) < 0.0:
            low = middle
        else:
            high = middle
        if high - low <= limits.event_time:
            break
    return high


@njit(cache=True, error_model="numpy")
def meeting(s: CompiledSystem, mode, e, t, x, u, taken, final, K, limits: Limits):
    """Length of the step at which guard e is first met, and how; see ``hybrid.event_location``."""
    before, after = s.guards[e](t, x, u), s.guards[e](t + taken, final, u)
    if np.isnan(after):
        return taken, NOT_FINITE
    if after > 0.0:
        # A guard that comes down and goes up again may have been crossed twice in between.
        falls = before > 0.0 and guard_rate(s, mode, e, t, x, u) < 0.0
        if not (falls and guard_rate(s, mode, e, t + taken, final, u) >= 0.0):
            return 0.0, APART
        lowest = turning(s, mode, e, t, x, u, taken, K, limits)
        depth = guard_after(s, mode, e, t, x, u, lowest, K)
        if abs(depth) <= limits.guard:
            return lowest, GRAZING
        if depth > 0.0:
            return 0.0, APART
        return locate(s, mode, e, t, x, u, 0.0, lowest, K, limits), OK
    if before > 0.0:
        return locate(s, mode, e, t, x, u, 0.0, taken, K, limits), OK
    if after >= -limits.guard or before < -limits.guard:  # not entered: left, or deep inside
        return 0.0, APART
    outside = 0.5 * taken  # the step starts on the guard: it left and came back, or slid in
    while guard_after(s, mode, e, t, x, u, outside, K) <= 0.0:
        outside *= 0.5
        if outside < limits.event_time:
            return 0.0, GRAZING
    return locate(s, mode, e, t, x, u, outside, taken, K, limits), OK
