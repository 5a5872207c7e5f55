"""Kernels of event-driven simulation: ``hybrid.simulation`` for compiled systems."""

# ruff: noqa: N806 (K is the table of Runge-Kutta slopes)

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hybrid import integration
from hybrid.compiled.system import CompiledSystem
from hybrid.simulation import SimulationOptions

OK, ZENO, NOT_FINITE, TOO_STIFF, GRAZING, WRONG_DIMENSION = range(6)
APART = -1  # a guard that a step does not meet
NODES, ERROR = integration._NODES, integration._ERROR
STAGES = np.zeros((7, 7))
for _i, _row in enumerate(integration._STAGES):
    STAGES[_i, : len(_row)] = _row
STEP = np.finfo(np.float64).eps ** (1 / 3)  # of a central difference
STATUSES = ("ok", "zeno", "not_finite", "too_stiff", "grazing", "wrong_dimension")


class Limits(NamedTuple):
    """``SimulationOptions`` as kernels take them."""

    relative: float
    absolute: float
    max_step: float
    min_step: float
    max_steps: int
    event_time: float
    guard: float
    max_events: int
    minimum_rate: float

    @staticmethod
    def of(options: SimulationOptions) -> Limits:
        """The options' numbers, in the kernels' order."""
        tolerance = options.tolerance
        return Limits(
            float(tolerance.relative),
            float(tolerance.absolute),
            float(tolerance.max_step),
            float(tolerance.min_step),
            int(tolerance.max_steps),
            float(options.event_time_tolerance),
            float(options.guard_tolerance),
            int(options.max_events),
            float(options.minimum_rate),
        )


class Log(NamedTuple):
    """Events of one rollout, in order; ``count[0]`` of the rows are filled."""

    count: NDArray[np.int64]  # (1,)
    knot: NDArray[np.int64]  # (capacity,)
    edge: NDArray[np.int64]  # (capacity,) index of the transition
    time: NDArray[np.float64]  # (capacity,) [s]
    before: NDArray[np.float64]  # (capacity, n)
    after: NDArray[np.float64]  # (capacity, n)

    @staticmethod
    def empty(capacity: int, n: int) -> Log:
        """Room for ``capacity`` events of states with up to n numbers."""
        whole = np.zeros(capacity, dtype=np.int64)
        states = np.zeros((2, capacity, n))
        return Log(
            np.zeros(1, dtype=np.int64), whole, whole.copy(), np.zeros(capacity), states[0],
            states[1],
        )  # fmt: skip


@njit(cache=True)
def put(row, x):
    """Write x at the start of a row. A loop: numba takes seconds to compile array assignment."""
    for i in range(len(x)):
        row[i] = x[i]


@njit(cache=True)
def finite(x):
    """Whether all of x is finite."""
    for value in x:
        if not np.isfinite(value):
            return False
    return True


@njit(cache=True)
def stage(i, y, h, K):
    """State (n,) at stage i of a step: y + h sum_j a_ij K_j."""
    end = y.copy()
    for j in range(i):
        if STAGES[i, j] != 0.0:
            for k in range(len(y)):
                end[k] += h * STAGES[i, j] * K[j, k]
    return end


@njit(cache=True)
def error_ratio(y, end, h, K, limits: Limits):
    """Largest error of a step over what it may be; NaN where the step is not finite."""
    size = 0.0
    for k in range(len(y)):
        error = 0.0
        for j in range(7):
            error += ERROR[j] * K[j, k]
        ratio = abs(h * error) / (limits.absolute + limits.relative * max(abs(y[k]), abs(end[k])))
        if not ratio <= size:  # true for NaN too
            size = ratio
    return size


@njit(cache=True)
def resized(size):
    """Factor by which an error ratio changes the step."""
    if size <= 1.0:
        return 5.0 if size == 0.0 else min(5.0, 0.9 * size**-0.2)
    return max(0.2, 0.9 * size**-0.2) if np.isfinite(size) else 0.2


@njit(cache=True)
def dormand_prince(s: CompiledSystem, mode, t, x, u, h, K):
    """One step of h [s]: the fifth-order end (n,); K (7, n) is filled with the slopes."""
    flow, end = s.flows[mode], x
    for i in range(7):
        end = stage(i, x, h, K)
        put(K[i], flow(t + NODES[i] * h, end, u))
    return end


@njit(cache=True)
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


@njit(cache=True)
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


@njit(cache=True)
def guard_rate(s: CompiledSystem, mode, e, t, x, u):
    """d/dt g along the flow (3.11), by a central difference along it."""
    slope, ahead, behind, largest = s.flows[mode](t, x, u), x.copy(), x.copy(), 1.0
    for i in range(len(x)):
        largest = max(largest, abs(slope[i]))
    h = STEP / largest
    for i in range(len(x)):
        ahead[i] += h * slope[i]
        behind[i] -= h * slope[i]
    return (s.guards[e](t + h, ahead, u) - s.guards[e](t - h, behind, u)) / (2.0 * h)


@njit(cache=True)
def fired_at_once(s: CompiledSystem, mode, t, x, u, limits: Limits):
    """Transition whose guard the state is in: deep inside, or on it and moving in; -1 if none."""
    for e in range(len(s.source)):
        if s.source[e] == mode:
            value = s.guards[e](t, x, u)
            if value < -limits.guard:
                return e
            if value <= 0.0 and guard_rate(s, mode, e, t, x, u) < -limits.minimum_rate:
                return e
    return -1


@njit(cache=True)
def guard_after(s: CompiledSystem, mode, e, t, x, u, h, K):
    """Guard e at the end of a step of h [s] from (t, x)."""
    return s.guards[e](t + h, dormand_prince(s, mode, t, x, u, h, K), u)


@njit(cache=True)
def locate(s: CompiledSystem, mode, e, t, x, u, low, high, K, limits: Limits):
    """Length of the step from (t, x) that ends on guard e, which is crossed from low to high.

    Regula falsi with the Illinois rule, and bisection every third time: always bracketed.
    """
    g_low = guard_after(s, mode, e, t, x, u, low, K)
    g_high = guard_after(s, mode, e, t, x, u, high, K)
    if g_high >= 0.0:
        return high
    side = 0
    for i in range(200):
        if abs(high - low) <= limits.event_time:
            break
        middle = high - g_high * (high - low) / (g_high - g_low)
        if i % 3 == 2 or not low < middle < high:
            middle = 0.5 * (low + high)
        g = guard_after(s, mode, e, t, x, u, middle, K)
        if g > 0.0:
            low, g_low = middle, g
            if side == 1:
                g_high *= 0.5
            side = 1
        else:
            high, g_high = middle, g
            if side == -1:
                g_low *= 0.5
            side = -1
        if g == 0.0:
            return middle
    return high - g_high * (high - low) / (g_high - g_low)


@njit(cache=True)
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


@njit(cache=True)
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
    if after >= -limits.guard:
        return 0.0, APART
    outside = 0.5 * taken  # the step starts on the guard: it left and came back, or slid in
    while guard_after(s, mode, e, t, x, u, outside, K) <= 0.0:
        outside *= 0.5
        if outside < limits.event_time:
            return 0.0, GRAZING
    return locate(s, mode, e, t, x, u, outside, taken, K, limits), OK


@njit(cache=True)
def flow_to_event(s: CompiledSystem, mode, t, x, u, end, h, limits: Limits):
    """One integration step, cut at the first guard met: (state, time, next h, edge, status)."""
    left = end - t
    final, taken, following = advance(s, mode, t, x, u, min(h, left), limits)
    if not finite(final):
        return final, t, h, -1, NOT_FINITE
    K = np.empty((7, len(x)))
    first, edge, status = taken, -1, OK
    for e in range(len(s.source)):
        if s.source[e] == mode:
            length, how = meeting(s, mode, e, t, x, u, taken, final, K, limits)
            if how != APART and (edge < 0 or length < first - limits.event_time):
                first, edge, status = length, e, how
    if edge < 0:
        return final, end if taken == left else t + taken, following, -1, OK
    x = dormand_prince(s, mode, t, x, u, first, K)
    if status == OK and not guard_rate(s, mode, edge, t + first, x, u) < -limits.minimum_rate:
        status = GRAZING
    return x, t + first, following, edge, status


@njit(cache=True)
def simulate(s: CompiledSystem, mode, t, x, u, duration, knot, limits: Limits, log: Log):
    """One timestep with the input held: (mode, state, status); its events go to the log."""
    end, h, first = t + duration, duration, log.count[0]
    for _ in range(limits.max_steps):
        if t >= end:
            return mode, x, OK
        edge = fired_at_once(s, mode, t, x, u, limits)
        if edge < 0:
            x, t, h, edge, status = flow_to_event(s, mode, t, x, u, end, h, limits)
            if status != OK:
                return mode, x, status
        if edge >= 0:
            i = log.count[0]
            if i - first == limits.max_events or i == len(log.time):
                return mode, x, ZENO
            after = s.resets[edge](t, x, u)
            target = s.target[edge]
            if len(after) != s.dims[target]:
                return mode, x, WRONG_DIMENSION
            if not finite(after):
                return mode, x, NOT_FINITE
            log.knot[i], log.edge[i], log.time[i] = knot, edge, t
            put(log.before[i], x)
            put(log.after[i], after)
            log.count[0] = i + 1
            x, mode, h = after, target, end - t
    return mode, x, OK if t >= end else TOO_STIFF
