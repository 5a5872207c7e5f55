"""Kernels of event-driven simulation: flow, locate the event, reset, flow on (5.20)-(5.22)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hybrid.compiled.calls import guard, has_solution, put, rate, reset
from hybrid.compiled.limits import (
    AMBIGUOUS,
    FULL,
    GRAZING,
    GUARD_NOT_FINITE,
    INSIDE_GUARD,
    NO_MEETING,
    NOT_FINITE,
    OK,
    RESET_NOT_FINITE,
    STOPPED,
    TOO_STIFF,
    WINDOW,
    WRONG_DIMENSION,
    ZENO,
    Limits,
)
from hybrid.compiled.location import first_meeting, guard_rate
from hybrid.compiled.piece import Piece, cut_to, end_after, obeys_flow, take_piece
from hybrid.compiled.runge_kutta import DEGREE, finite, first_step
from hybrid.compiled.tables import CompiledSystem

STEP = -1  # of integration, in place of a transition's index in a log


class Log(NamedTuple):
    """Events of one rollout, in order; ``count[0]`` of the rows are filled.

    With room for polynomials the steps of integration are in it too.
    """

    count: NDArray[np.int64]  # (1,)
    knot: NDArray[np.int64]  # (capacity,)
    edge: NDArray[np.int64]  # (capacity,) index of the transition, or STEP
    time: NDArray[np.float64]  # (capacity,) of the event, or of the start of the step [s]
    before: NDArray[np.float64]  # (capacity, n)
    after: NDArray[np.float64]  # (capacity, n)
    span: NDArray[np.float64]  # (capacity,) of the step's dense output [s]
    C: NDArray[np.float64]  # (capacity or 0, DEGREE, n) of steps' dense output

    @staticmethod
    def empty(capacity: int, n: int, steps: bool = False) -> Log:
        """Room for ``capacity`` events, or events and steps, of states with up to n numbers."""
        whole, states = np.zeros(capacity, dtype=np.int64), np.zeros((2, capacity, n))
        return Log(
            np.zeros(1, dtype=np.int64), whole, whole.copy(), np.zeros(capacity), states[0],
            states[1], np.zeros(capacity), np.zeros((capacity if steps else 0, DEGREE, n)),
        )  # fmt: skip


class Course(NamedTuple):
    """Where a simulation is, and what it counts: enough to go on later."""

    mode: NDArray[np.int64]  # (1,)
    state: NDArray[np.float64]  # (n,)
    slope: NDArray[np.float64]  # (n,) F there, where ``counts`` says that it is known
    clock: NDArray[np.float64]  # time [s], next step [s], start of the window [s]
    counts: NDArray[np.int64]  # see the names below

    @staticmethod
    def at(mode: int, t: float, x: NDArray[np.float64], n: int) -> Course:
        """At the start, in the mode of an index, with room for states of n numbers."""
        state = np.zeros(max(n, len(x)))
        state[: len(x)] = x
        clock, counts = np.array([t, np.nan, t]), np.zeros(5, dtype=np.int64)
        return Course(np.array([mode], dtype=np.int64), state, np.zeros_like(state), clock, counts)


TIME, NEXT, OPENED = range(3)  # of ``Course.clock``
# Of ``Course.counts``: steps and events in the window, the transition of a failure, whether the
# slope is known, and resets in a row that have left the state inside their guard.
STEPS, EVENTS, EDGE, KNOWN, INSIDE = range(5)


@njit(cache=True, error_model="numpy")
def fired_at_once(s: CompiledSystem, mode, t, x, u, limits: Limits):
    """Transition whose guard the state is in: deep inside, or on it and moving in; -1 if none.

    -2 - e where the guard of transition e is not finite.
    """
    for e in range(len(s.source)):
        if s.source[e] == mode and not s.rest[e]:
            value = guard(s, e, t, x, u)
            if value < -limits.guard:
                return e
            if not value > limits.guard:
                falling = guard_rate(s, mode, e, t, x, u)
                if falling < -limits.minimum_rate and value <= -2.0 * limits.event_time * falling:
                    return e
                if np.isnan(value) or np.isnan(falling):
                    return -2 - e
    return -1


@njit(cache=True, error_model="numpy")
def resting(s: CompiledSystem, mode):
    """Transition into a mode of rest that leaves a mode; -1 if none."""
    for e in range(len(s.source)):
        if s.source[e] == mode and s.rest[e]:
            return e
    return -1


@njit(cache=True, error_model="numpy")
def earliest(s: CompiledSystem, mode, p: Piece, spacing, limits: Limits):
    """First guard met: (the step up to there, transition, how, another met at the same time).

    At a tie that of the transition given first; transitions are -1 where there is none, and the
    step is then the whole one.
    """
    first, edge, how, other, end = p.length, -1, NO_MEETING, -1, p.end
    tie = max(limits.event_time, 1e-15 * abs(p.time))
    for e in range(len(s.source)):
        if s.source[e] != mode or s.rest[e]:
            continue
        before = guard(s, e, p.time, p.start, p.input)
        high = p.length if edge < 0 else min(first + tie, p.length)
        length, kind = first_meeting(s, mode, e, p, before, spacing, high, limits)
        if kind == NO_MEETING:
            continue
        if edge < 0 or length < first - tie:
            first, edge, how, other = length, e, kind, -1
            end = p.meeting.copy() if kind == OK else end_after(s, mode, p, length, limits)
        elif length <= first + tie and other < 0:
            other = e
    return (p if edge < 0 else cut_to(p, first, end)), edge, how, other


@njit(cache=True, error_model="numpy")
def enter(log: Log, knot, edge, t, before, after):
    """Add a row to a log, which must have room."""
    i = log.count[0]
    log.knot[i], log.edge[i], log.time[i] = knot, edge, t
    put(log.before[i], before)
    put(log.after[i], after)
    log.count[0] = i + 1


@njit(cache=True, error_model="numpy")
def enter_step(log: Log, knot, p: Piece):
    """Add a step to a log that keeps them."""
    if len(log.C) > 0:
        i = log.count[0]
        log.span[i] = p.span
        for k in range(DEGREE):
            put(log.C[i, k], p.C[k])
        enter(log, knot, STEP, p.time, p.start, p.end)


@njit(cache=True, error_model="numpy")
def is_violated(s: CompiledSystem, c: Course, other, edge, u, limits: Limits):
    """Whether a guard that was met together with another event is violated after that event."""
    mode, t = c.mode[0], c.clock[TIME]
    if other < 0 or s.target[other] == s.target[edge] or s.dims[mode] != s.dims[s.source[other]]:
        return False
    x = c.state[: s.dims[mode]]
    if fired_at_once(s, mode, t, x, u, limits) != -1:
        return False
    value = guard(s, other, t, x, u)
    if value < -limits.guard:
        return True
    return value <= limits.guard and guard_rate(s, mode, other, t, x, u) < -limits.minimum_rate


@njit(cache=True, error_model="numpy")
def may_go_on(c: Course, limits: Limits, log: Log):
    """A status: whether the limits and the log have room for one more step or event."""
    if c.clock[TIME] - c.clock[OPENED] >= WINDOW:
        c.clock[OPENED], c.counts[STEPS], c.counts[EVENTS] = c.clock[TIME], 0, 0
    if c.counts[STEPS] >= limits.max_steps:
        return TOO_STIFF
    return FULL if len(log.time) - log.count[0] < 2 else OK


@njit(cache=True, error_model="numpy")
def flow_on(s: CompiledSystem, c: Course, end, u, knot, spacing, limits: Limits, log: Log):
    """One step of integration, at most to a guard: (transition, another met with it, status)."""
    mode, t = c.mode[0], c.clock[TIME]
    x, slope, left = c.state[: s.dims[mode]].copy(), c.slope[: s.dims[mode]], end - t
    if c.counts[KNOWN] == 0:
        put(slope, rate(s, mode, t, x, u))
        c.counts[KNOWN] = 1
        if not finite(slope):
            return -1, -1, NOT_FINITE
    if np.isnan(c.clock[NEXT]):
        c.clock[NEXT] = left
        if np.isfinite(spacing):
            c.clock[NEXT] = first_step(s, mode, t, x, u, left, slope, limits)
    whole, last, following = take_piece(s, mode, t, x, u, min(c.clock[NEXT], left), slope, limits)
    c.counts[STEPS] += 1
    if not finite(whole.end):
        return -1, -1, NOT_FINITE
    p, edge, how, other = earliest(s, mode, whole, spacing, limits)
    closed = has_solution(s, mode)
    if not closed and not obeys_flow(s, mode, whole, p.length, spacing, limits):
        c.clock[NEXT] = max(0.2 * whole.length, 2.0 * spacing)
        return -1, -1, OK
    if whole.length < left:
        c.clock[NEXT] = following
    else:  # a short rest says nothing
        c.clock[NEXT] = max(c.clock[NEXT], following)
    enter_step(log, knot, p)
    put(c.state, p.end)
    c.counts[INSIDE] = 0
    c.clock[TIME] = end if edge < 0 and p.length == left else t + p.length
    if edge < 0:
        put(slope, last)
        return edge, other, OK
    c.clock[NEXT], c.counts[EDGE] = max(c.clock[NEXT], p.length), edge
    if how == OK and not guard_rate(s, mode, edge, c.clock[TIME], p.end, u) < -limits.minimum_rate:
        how = GRAZING
    return edge, other, how


@njit(cache=True, error_model="numpy")
def choose_rest(s: CompiledSystem, c: Course, edge, status, limits: Limits):
    """A transition into rest in place of one of many, or of a grazing one: (transition, status)."""
    if status != OK and status != GRAZING:
        return edge, status
    rest, many = resting(s, c.mode[0]), c.counts[EVENTS] >= limits.max_events
    if rest >= 0 and (many or status == GRAZING):
        c.counts[EVENTS] = 0
        return rest, OK
    if many and (c.counts[EVENTS] >= 2 * limits.max_events or not np.any(s.rest)):
        return edge, ZENO if status == OK else status
    return edge, status


@njit(cache=True, error_model="numpy")
def jump(s: CompiledSystem, c: Course, edge, u, knot, limits: Limits, log: Log):
    """Reset by a transition; a status."""
    t, x, target = c.clock[TIME], c.state[: s.dims[c.mode[0]]].copy(), s.target[edge]
    after = reset(s, edge, t, x, u)
    c.counts[EDGE], c.counts[KNOWN] = edge, 0
    if len(after) != s.dims[target]:
        return WRONG_DIMENSION
    if not finite(after):
        return RESET_NOT_FINITE
    enter(log, knot, edge, t, x, after)
    c.counts[EVENTS] += 1
    c.mode[0] = target
    put(c.state, after)
    if len(after) == len(x):
        depth = guard(s, edge, t, x, u)
        if depth < -limits.guard and guard(s, edge, t, after, u) <= depth:  # it stays inside
            c.counts[INSIDE] += 1
    return INSIDE_GUARD if c.counts[INSIDE] > len(s.source) else OK


@njit(cache=True, error_model="numpy")
def proceed(s: CompiledSystem, c: Course, end, u, knot, spacing, until, limits: Limits, log: Log):
    """Simulate on to the time ``end`` [s] with the input held; a status. Events go to the log.

    ``spacing`` [s] is how far apart a flow is looked at, infinite where a timestep is short enough.
    ``until`` (transitions,) says after which transitions to stop.
    """
    status, c.counts[KNOWN], c.counts[INSIDE] = OK, 0, 0
    while c.clock[TIME] < end and status == OK:
        status = may_go_on(c, limits, log)
        if status != OK:
            break
        x, other = c.state[: s.dims[c.mode[0]]], -1
        edge = fired_at_once(s, c.mode[0], c.clock[TIME], x, u, limits)
        if edge < -1:
            c.counts[EDGE] = -2 - edge
            return GUARD_NOT_FINITE
        if edge < 0:
            edge, other, status = flow_on(s, c, end, u, knot, spacing, limits, log)
            if edge < 0:
                continue
        edge, status = choose_rest(s, c, edge, status, limits)
        if status == OK:
            status = jump(s, c, edge, u, knot, limits, log)
        if status == OK and is_violated(s, c, other, edge, u, limits):
            status, c.counts[EDGE] = AMBIGUOUS, other
        if status == OK and until[edge]:
            status = STOPPED
    return status
