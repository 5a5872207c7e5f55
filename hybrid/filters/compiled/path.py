"""Kernels of the guard sets (4.2): the states of g <= 0 whose flow goes on into the guard.

A measurement, or a reset, may leave a state behind a guard on its way out. Such a guard waits:
it counts again once it has been positive.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hybrid.compiled.limits import OK, TOO_STIFF, Limits
from hybrid.compiled.location import guard_rate
from hybrid.compiled.step import flow_to_event
from hybrid.compiled.system import CompiledSystem


@njit(cache=True, error_model="numpy")
def entered(s: CompiledSystem, mode, t, x, u, waiting, limits: Limits):
    """First transition whose guard set (4.2) holds the state, at any depth; -1 if none does."""
    for e in range(len(s.source)):
        if s.source[e] == mode and not waiting[e] and s.guards[e](t, x, u) <= 0.0:
            if guard_rate(s, mode, e, t, x, u) < -limits.minimum_rate:
                return e
    return -1


@njit(cache=True, error_model="numpy")
def being_left(s: CompiledSystem, mode, t, x, u, limits: Limits):
    """Which guards (transitions,) the state is deep inside, and does not go further into."""
    waiting = np.zeros(len(s.source), dtype=np.bool_)
    for e in range(len(s.source)):
        if s.source[e] == mode and s.guards[e](t, x, u) < -limits.guard:
            waiting[e] = not guard_rate(s, mode, e, t, x, u) < -limits.minimum_rate
    return waiting


@njit(cache=True, error_model="numpy")
def to_event(s: CompiledSystem, mode, t, x, u, end, limits: Limits):
    """Flow until ``end`` [s] or into a guard set: (state, time, transition or -1, status)."""
    waiting, h = being_left(s, mode, t, x, u, limits), end - t
    for _ in range(limits.max_steps):
        if t >= end:
            return x, t, -1, OK
        edge = entered(s, mode, t, x, u, waiting, limits)
        if edge >= 0:
            return x, t, edge, OK
        x, t, h, edge, status = flow_to_event(s, mode, t, x, u, end, h, limits)
        if status != OK or edge >= 0:
            return x, t, edge, status
        for e in range(len(waiting)):
            if waiting[e] and s.guards[e](t, x, u) > 0.0:
                waiting[e] = False
    return x, t, -1, TOO_STIFF
