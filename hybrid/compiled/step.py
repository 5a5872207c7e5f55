"""Kernels of event-driven simulation: flow, locate the event, reset, flow on (5.20)-(5.22)."""

# ruff: noqa: N806 (C is the polynomial of a step)

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hybrid.compiled.calls import guard, put, rate, reset
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
from hybrid.compiled.piece import Piece, cut, obeys_flow, take_piece
from hybrid.compiled.runge_kutta import finite, first_step
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
    length: NDArray[np.float64]  # (capacity,) of the step [s]
    C: NDArray[np.float64]  # (capacity or 0, 4, n) polynomials of steps, see ``dense_output``

    @staticmethod
    def empty(capacity: int, n: int, steps: bool = False) -> Log:
        """Room for ``capacity`` events, or events and steps, of states with up to n numbers."""
        whole, states = np.zeros(capacity, dtype=np.int64), np.zeros((2, capacity, n))
        return Log(
            np.zeros(1, dtype=np.int64), whole, whole.copy(), np.zeros(capacity), states[0],
            states[1], np.zeros(capacity), np.zeros((capacity if steps else 0, 4, n)),
        )  # fmt: skip


class Course(NamedTuple):
    """Where a simulation is, and what it counts: enough to go on later."""

    mode: NDArray[np.int64]  # (1,)
    state: NDArray[np.float64]  # (n,)
    clock: NDArray[np.float64]  # time [s], next step [s], start of the window [s]
    counts: NDArray[np.int64]  # steps and events in the window, the transition of a failure

    @staticmethod
    def at(mode: int, t: float, x: NDArray[np.float64], n: int) -> Course:
        """At the start, in the mode of an index, with room for states of n numbers."""
        state = np.zeros(max(n, len(x)))
        state[: len(x)] = x
        clock = np.array([t, np.nan, t])
        return Course(np.array([mode], dtype=np.int64), state, clock, np.array([0, 0, -1]))


TIME, NEXT, OPENED = range(3)  # of ``Course.clock``
STEPS, EVENTS, EDGE = range(3)  # of ``Course.counts``


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
            if not value > 0.0:
                falling = guard_rate(s, mode, e, t, x, u)
                if falling < -limits.minimum_rate:
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
    """First guard met in a step: (length, transition, how, another met at the same time).

    At a tie that of the transition given first; transitions are -1 where there is none.
    """
    first, edge, how, other = p.length, -1, NO_MEETING, -1
    for e in range(len(s.source)):
        if s.source[e] != mode or s.rest[e]:
            continue
        before = guard(s, e, p.time, p.start, p.input)
        length, kind = first_meeting(s, mode, e, p, before, spacing, first, limits)
        if kind == NO_MEETING:
            continue
        tie = max(limits.event_time, 1e-15 * abs(p.time))
        if edge < 0 or length < first - tie:
            first, edge, how, other = length, e, kind, -1
        elif length <= first + tie and other < 0:
            other = e
    return first, edge, how, other


@njit(cache=True, error_model="numpy")
def enter(log: Log, knot, edge, t, length, before, after):
    """Add a row to a log, which must have room."""
    i = log.count[0]
    log.knot[i], log.edge[i], log.time[i], log.length[i] = knot, edge, t, length
    put(log.before[i], before)
    put(log.after[i], after)
    log.count[0] = i + 1


@njit(cache=True, error_model="numpy")
def enter_step(log: Log, knot, p: Piece):
    """Add a step to a log that keeps them."""
    if len(log.C) > 0:
        enter(log, knot, STEP, p.time, p.length, p.start, p.end)
        for k in range(4):
            put(log.C[log.count[0] - 1, k], p.C[k])


@njit(cache=True, error_model="numpy")
def is_violated(s: CompiledSystem, mode, other, edge, t, x, u, limits: Limits):
    """Whether a guard that was met together with another event is violated after that event."""
    if other < 0 or s.target[other] == s.target[edge] or s.dims[mode] != s.dims[s.source[other]]:
        return False
    if fired_at_once(s, mode, t, x, u, limits) != -1:
        return False
    value = guard(s, other, t, x, u)
    if value < -limits.guard:
        return True
    return value <= limits.guard and guard_rate(s, mode, other, t, x, u) < -limits.minimum_rate


@njit(cache=True, error_model="numpy")
def jump(s: CompiledSystem, c: Course, mode, edge, t, x, u, knot, limits: Limits, log: Log):
    """Reset by a transition: (mode, state, status)."""
    after, target = reset(s, edge, t, x, u), s.target[edge]
    if len(after) != s.dims[target]:
        return mode, x, WRONG_DIMENSION
    if not finite(after):
        return mode, x, RESET_NOT_FINITE
    enter(log, knot, edge, t, 0.0, x, after)
    c.counts[EVENTS] += 1
    return target, after, OK


@njit(cache=True, error_model="numpy")
def stays_inside(s: CompiledSystem, edge, t, x, after, u, limits: Limits):
    """Whether a reset leaves the state as deep inside its own guard as it was."""
    if len(after) != len(x):
        return False
    depth = guard(s, edge, t, x, u)
    return depth < -limits.guard and guard(s, edge, t, after, u) <= depth


@njit(cache=True, error_model="numpy")
def proceed(s: CompiledSystem, c: Course, end, u, knot, spacing, until, limits: Limits, log: Log):
    """Simulate on to the time ``end`` [s] with the input held; a status. Events go to the log.

    ``spacing`` [s] is how far apart a flow is looked at, infinite where a timestep is short enough.
    ``until`` (transitions,) says after which transitions to stop.
    """
    mode, t, x = c.mode[0], c.clock[TIME], c.state[: s.dims[c.mode[0]]].copy()
    h, status, slope, fresh = c.clock[NEXT], OK, x, True
    inside = np.zeros(len(s.source), dtype=np.int64)
    while t < end and status == OK:
        if t - c.clock[OPENED] >= WINDOW:
            c.clock[OPENED], c.counts[STEPS], c.counts[EVENTS] = t, 0, 0
        if c.counts[STEPS] >= limits.max_steps:
            status = TOO_STIFF
        if len(log.time) - log.count[0] < 2:
            status = FULL
        if status != OK:
            break
        edge, other, how = fired_at_once(s, mode, t, x, u, limits), -1, OK
        if edge < -1:
            status, c.counts[EDGE] = GUARD_NOT_FINITE, -2 - edge
            break
        if edge < 0:
            if fresh:
                slope, fresh = rate(s, mode, t, x, u), False
                if not finite(slope):
                    status = NOT_FINITE
                    break
                if np.isnan(h):
                    h = end - t
                    if np.isfinite(spacing):
                        h = first_step(s, mode, t, x, u, h, slope, limits)
            left = end - t
            trial = min(h, left)
            p, last, following = take_piece(s, mode, t, x, u, trial, slope, limits)
            c.counts[STEPS] += 1
            if not finite(p.end):
                status = NOT_FINITE
                break
            first, edge, how, other = earliest(s, mode, p, spacing, limits)
            if not obeys_flow(s, mode, p, first, spacing, limits):
                h = max(0.2 * p.length, 2.0 * spacing)
                continue
            h = max(h, following) if p.length == left else following  # a short rest says nothing
            whole = edge < 0
            if not whole:
                p, h = cut(s, mode, p, first, limits), max(h, p.length)
            enter_step(log, knot, p)
            x, slope = p.end, last
            inside[:] = 0
            t = end if whole and p.length == left else t + p.length
            if whole:
                continue
            c.counts[EDGE] = edge
            if how == GUARD_NOT_FINITE:
                status = GUARD_NOT_FINITE
                break
            if how == GRAZING or not guard_rate(s, mode, edge, t, x, u) < -limits.minimum_rate:
                status = GRAZING
        rest = resting(s, mode)
        many = c.counts[EVENTS] >= limits.max_events
        if rest >= 0 and (many or status == GRAZING):
            edge, other, status, c.counts[EVENTS] = rest, -1, OK, 0
        elif many and status == OK:
            if c.counts[EVENTS] >= 2 * limits.max_events or not np.any(s.rest):
                status = ZENO
        if status != OK:
            break
        before = x
        mode, x, status = jump(s, c, mode, edge, t, x, u, knot, limits, log)
        c.counts[EDGE] = edge
        if status != OK:
            break
        fresh = True
        if stays_inside(s, edge, t, before, x, u, limits):
            inside[edge] += 1
            if inside[edge] == 2:
                status = INSIDE_GUARD
        if status == OK and is_violated(s, mode, other, edge, t, x, u, limits):
            status, c.counts[EDGE] = AMBIGUOUS, other
        if status == OK and until[edge]:
            status = STOPPED
    c.mode[0], c.clock[TIME], c.clock[NEXT] = mode, t, h
    put(c.state, x)
    return status
