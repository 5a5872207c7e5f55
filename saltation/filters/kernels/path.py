"""Kernels of the guard sets (4.2): those of g <= 0 that the flow enters, d/dt g < 0.

A measurement, or a reset, may leave a state behind a guard on its way out. Such a guard is
inactive: it counts again once it has been positive. So is a guard that fires on edge, on its way in
too.
"""

from __future__ import annotations

import numpy as np

from saltation.compiled.calls import guard, has_solution, rate
from saltation.compiled.limits import GRAZING, NOT_FINITE, OK, TOO_STIFF, ZENO, Limits
from saltation.compiled.location import exit_length, guard_rate, guards_unseen, look_around
from saltation.compiled.piece import cut, obeys_flow, take_piece
from saltation.compiled.runge_kutta import finite
from saltation.compiled.step import earliest, resting
from saltation.compiled.tables import CompiledSystem
from saltation.kernels import kernel

INSIDE = 1e-9  # deeper inside a guard than this, a state did not get there by the flow
SLOWEST = 1e-9  # fall of a guard that is transverse [units of g per s]
POINTS = 20.0  # of a prediction at which its flow is compared with its integral


@kernel
def rate_of(s: CompiledSystem, mode, e, t, x, u):
    """d/dt g (3.11), looked at over a time in which states change by about one."""
    slope, largest = rate(s, mode, t, x, u), 1.0
    for i in range(len(x)):
        largest = max(largest, abs(slope[i]))
    return guard_rate(s, e, t, x, u, slope, 1.0 / largest)


@kernel
def is_transverse(s: CompiledSystem, mode, e, t, x, u):
    """Whether the flow goes on into a guard, transversally (4.1)."""
    return rate_of(s, mode, e, t, x, u) < -SLOWEST


@kernel
def guard_set(s: CompiledSystem, mode, t, x, u):
    """First transition on level whose guard set (4.2) holds the state, at any depth; or -1."""
    for e in range(len(s.source)):
        here = s.source[e] == mode and not s.rest[e] and not s.on_edge[e]
        if here and guard(s, e, t, x, u) <= 0.0:
            if is_transverse(s, mode, e, t, x, u):
                return e
    return -1


@kernel
def inactive_guards(s: CompiledSystem, mode, origin, t, x, u):
    """Guards (transitions,) that the state is deep behind and does not go further into.

    And which that fire on edge it is inside.

    With ``origin``, the mode that a reset has just left, only the guards that lead back there:
    behind another one it was put by that reset. It is -1 where no reset led to the state.
    """
    inactive = np.zeros(len(s.source), np.bool_)
    for e in range(len(s.source)):
        here = s.source[e] == mode and not s.rest[e]
        if here and s.on_edge[e]:
            inactive[e] = guard(s, e, t, x, u) <= 0.0
        elif here and (origin < 0 or s.target[e] == origin != mode):
            if guard(s, e, t, x, u) < -INSIDE:
                inactive[e] = not is_transverse(s, mode, e, t, x, u)
    return inactive


@kernel
def moved_through(s: CompiledSystem, mode, t, before, after, u):
    """First transition on edge whose guard a measurement moves the state through; -1 if none."""
    for e in range(len(s.source)):
        if s.source[e] == mode and s.on_edge[e] and not s.rest[e]:
            if guard(s, e, t, before, u) > 0.0 >= guard(s, e, t, after, u):
                if is_transverse(s, mode, e, t, after, u):
                    return e
    return -1


@kernel
def active_transition(s: CompiledSystem, mode, t, x, u, inactive):
    """Transition whose guard the state is in: deep inside, or on it and falling; -1 if none."""
    for e in range(len(s.source)):
        if s.source[e] == mode and not inactive[e] and not s.rest[e]:
            value = guard(s, e, t, x, u)
            if value < -INSIDE:
                return e
            if value <= 0.0 and is_transverse(s, mode, e, t, x, u):
                return e
    return -1


@kernel
def piece_of_flow(s: CompiledSystem, mode, t, x, u, trial, spacing, limits: Limits):
    """A step of at most ``trial`` [s] whose dense output has the flow's slope; the next to try.

    The slopes are compared at points ``spacing`` [s] apart: a pulse between the nodes of the
    integrator's method is found by that.
    """
    slope, closed = rate(s, mode, t, x, u), has_solution(s, mode)
    while True:
        p, _, following = take_piece(s, mode, t, x, u, trial, slope, np.abs(x), limits)
        if closed or not finite(p.end) or obeys_flow(s, mode, p, p.length, spacing, limits):
            return p, following
        trial = max(0.2 * p.length, 2.0 * spacing)


@kernel
def to_event(s: CompiledSystem, mode, t, x, u, end, inactive, events, limits: Limits):
    """``to_guard``; and into rest, if there is such a transition, by grazing or too many events."""
    x, t, e, status, longest = to_guard(s, mode, t, x, u, end, inactive, limits)
    if e >= 0 and events >= limits.zeno_events:
        status = ZENO
    if status in (GRAZING, ZENO) and events <= limits.zeno_events:
        rest = resting(s, mode)
        e, status = (rest, OK) if rest >= 0 else (e, status)
    return x, t, e, status, longest


@kernel
def to_guard(s: CompiledSystem, mode, t, x, u, end, inactive, limits: Limits):
    """Flow until ``end`` [s] or to a transition.

    Guards of ``inactive`` (transitions,) that have become positive are struck off it.

    Returns:
        State (n,), time [s], transition or -1, status, and the longest step [s].
    """
    h, spacing, longest = end - t, (end - t) / POINTS, 0.0
    g = guards_unseen(len(s.source))
    for e in range(len(s.source)):
        g.largest[e] = 1e3 * INSIDE  # so that only guards closer than this are looked at closely
    for _ in range(limits.max_steps):
        if t >= end:
            return x, t, -1, OK, longest
        e = active_transition(s, mode, t, x, u, inactive)
        if e >= 0:
            return x, t, e, OK, longest
        left = end - t
        p, h = piece_of_flow(s, mode, t, x, u, min(h, left), spacing, limits)
        if not finite(p.end):
            return p.end, t, -1, NOT_FINITE, longest
        look_around(s, mode, t, x, u, p.length, limits, g)
        length = exit_length(s, mode, p, inactive, g, spacing)
        if length < p.length:
            p = cut(s, mode, p, length, limits)
        p, e, status, _ = earliest(s, mode, p, spacing, limits, g)
        x, t = p.end, end if e < 0 and p.length == left else t + p.length
        longest = max(longest, p.length)
        if e >= 0:
            if status == OK and not is_transverse(s, mode, e, t, x, u):
                status = GRAZING
            return x, t, e, status, longest
        for i in range(len(inactive)):
            if inactive[i] and guard(s, i, t, x, u) > 0.0:
                inactive[i] = False
    return x, t, -1, TOO_STIFF, longest


@kernel
def flow_to(s: CompiledSystem, mode, t, x, u, end, limits: Limits):
    """State (n,) at ``end`` [s] by the flow alone, NaN where it has none; the longest step [s]."""
    h, spacing, longest = end - t, (end - t) / POINTS, 0.0
    for _ in range(limits.max_steps):
        if t >= end or not finite(x):
            return x, longest
        left = end - t
        p, h = piece_of_flow(s, mode, t, x, u, min(h, left), spacing, limits)
        x, t, longest = p.end, end if p.length == left else t + p.length, max(longest, p.length)
    return np.full_like(x, np.nan), longest
