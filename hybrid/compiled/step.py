"""Kernels of event-driven simulation: ``hybrid.simulation`` for compiled systems."""

# ruff: noqa: N806 (K is the table of Runge-Kutta slopes)

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hybrid.compiled.limits import (
    APART,
    GRAZING,
    NOT_FINITE,
    OK,
    TOO_STIFF,
    WRONG_DIMENSION,
    ZENO,
    Limits,
)
from hybrid.compiled.location import guard_rate, meeting
from hybrid.compiled.runge_kutta import advance, dormand_prince, finite, put
from hybrid.compiled.system import CompiledSystem


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


@njit(cache=True, error_model="numpy")
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


@njit(cache=True, error_model="numpy")
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


@njit(cache=True, error_model="numpy")
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
            after = s.resets[edge](t, x.copy(), u)
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
