"""Kernels of the guard sets (4.2): those of g <= 0 that the flow enters, d/dt g < 0.

A measurement, or a reset, may leave a state behind a guard on its way out. Such a guard waits:
it counts again once it has been positive.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hybrid.compiled.calls import guard, rate
from hybrid.compiled.limits import GRAZING, NOT_FINITE, OK, TOO_STIFF, Limits
from hybrid.compiled.location import guard_rate
from hybrid.compiled.piece import Piece, cut, state_at, take_piece
from hybrid.compiled.runge_kutta import finite
from hybrid.compiled.step import earliest
from hybrid.compiled.tables import CompiledSystem

SAMPLES = 16  # points of a step at which waiting guards are looked at


@njit(cache=True, error_model="numpy")
def falling(s: CompiledSystem, mode, e, t, x, u, limits: Limits):
    """Whether the flow goes on into a guard, transversally (4.1)."""
    return guard_rate(s, mode, e, t, x, u) < -limits.minimum_rate


@njit(cache=True, error_model="numpy")
def entered(s: CompiledSystem, mode, t, x, u, limits: Limits):
    """First transition whose guard set (4.2) holds the state, at any depth; -1 if none does."""
    for e in range(len(s.source)):
        if s.source[e] == mode and not s.rest[e] and guard(s, e, t, x, u) <= 0.0:
            if falling(s, mode, e, t, x, u, limits):
                return e
    return -1


@njit(cache=True, error_model="numpy")
def guards_being_left(s: CompiledSystem, mode, came_from, t, x, u, limits: Limits):
    """Which guards (transitions,) the state is deep inside, and does not go further into.

    With ``came_from``, the mode that a reset has just left, only the guards that lead back there:
    behind another one it was put by that reset. It is -1 where no reset led to the state.
    """
    waiting = np.zeros(len(s.source), dtype=np.bool_)
    for e in range(len(s.source)):
        if s.rest[e]:
            continue
        if s.source[e] == mode and (came_from < 0 or s.target[e] == came_from != mode):
            if guard(s, e, t, x, u) < -limits.guard:
                waiting[e] = not falling(s, mode, e, t, x, u, limits)
    return waiting


@njit(cache=True, error_model="numpy")
def active_transition(s: CompiledSystem, mode, t, x, u, waiting, limits: Limits):
    """Transition whose guard the state is in: deep inside, or on it and falling; -1 if none."""
    for e in range(len(s.source)):
        if s.source[e] == mode and not waiting[e] and not s.rest[e]:
            value = guard(s, e, t, x, u)
            if value < -limits.guard or (value <= 0.0 and falling(s, mode, e, t, x, u, limits)):
                return e
    return -1


@njit(cache=True, error_model="numpy")
def to_event(s: CompiledSystem, mode, t, x, u, end, waiting, limits: Limits):
    """Flow until ``end`` [s] or to a transition: (state, time, transition or -1, status).

    Guards of ``waiting`` (transitions,) that have become positive are struck off it.
    """
    h = end - t
    for _ in range(limits.max_steps):
        if t >= end:
            return x, t, -1, OK
        edge = active_transition(s, mode, t, x, u, waiting, limits)
        if edge >= 0:
            return x, t, edge, OK
        left, slope = end - t, rate(s, mode, t, x, u)
        p, _, h = take_piece(s, mode, t, x, u, min(h, left), slope, limits)
        if not finite(p.end):
            return p.end, t, -1, NOT_FINITE
        length = until_left(s, mode, p, waiting)
        if length < p.length:
            p = cut(s, mode, p, length, limits)
        p, edge, status, _ = earliest(s, mode, p, np.inf, limits)
        x, t = p.end, end if edge < 0 and p.length == left else t + p.length
        if edge >= 0:
            if status == OK and not falling(s, mode, edge, t, x, u, limits):
                status = GRAZING
            return x, t, edge, status
        for e in range(len(waiting)):
            if waiting[e] and guard(s, e, t, x, u) > 0.0:
                waiting[e] = False
    return x, t, -1, TOO_STIFF


@njit(cache=True, error_model="numpy")
def until_left(s: CompiledSystem, mode, p: Piece, waiting):
    """Length [s] of a step after which a waiting guard is positive; the whole step if none is.

    A guard that is left for less than a ``SAMPLES``-th of the step may be overlooked: it then
    counts as not left, to the end of the step.
    """
    if np.any(waiting):
        for i in range(1, SAMPLES):
            length = p.length * i / SAMPLES
            x = state_at(s, mode, p, length)
            for e in range(len(waiting)):
                if waiting[e] and guard(s, e, p.time + length, x, p.input) > 0.0:
                    return length
    return p.length
