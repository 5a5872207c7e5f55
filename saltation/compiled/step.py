"""Kernels of event-driven simulation: flow, locate the event, reset, flow on (5.20)-(5.22)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from saltation.arrays import Array, Integers
from saltation.compiled.calls import guard, has_solution, put, rate, reset
from saltation.compiled.limits import (
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
    WRONG_DIMENSION,
    ZENO,
    Limits,
    time_tolerance,
)
from saltation.compiled.location import (
    BROKEN,
    FALLS,
    IS_CLEAR,
    SLOWEST,
    Guards,
    exit_length,
    first_meeting,
    guard_rate,
    guards_unseen,
    look_around,
)
from saltation.compiled.piece import (
    Piece,
    cut_to,
    end_after,
    grow,
    obeys_flow,
    take_piece,
)
from saltation.compiled.runge_kutta import DEGREE, finite, first_step
from saltation.compiled.tables import CompiledSystem
from saltation.kernels import inlined_kernel, kernel

WINDOW = 1e-4  # of a simulation: events in it are counted for Zeno behaviour
STEP = -1  # of integration, in place of a transition's index in a log


class Log(NamedTuple):
    """Events of one rollout, in order; ``count[0]`` of the rows are filled.

    With room for polynomials the steps of integration are in it too.
    """

    count: Integers  # (1,)
    knot: Integers  # (capacity,)
    edge: Integers  # (capacity,) index of the transition, or STEP
    time: Array  # (capacity,) of the event, or of the start of the step [s]
    before: Array  # (capacity, n)
    after: Array  # (capacity, n)
    span: Array  # (capacity,) of the step's dense output [s]
    C: Array  # (capacity or 0, DEGREE, n) of steps' dense output

    @staticmethod
    def empty(capacity: int, n: int, steps: bool = False) -> Log:
        """Room for ``capacity`` events, or events and steps, of states with up to n numbers."""
        whole, states = np.zeros(capacity, np.int64), np.zeros((2, capacity, n))
        return Log(
            np.zeros(1, np.int64), whole, whole.copy(), np.zeros(capacity), states[0],
            states[1], np.zeros(capacity), np.zeros((capacity if steps else 0, DEGREE, n)),
        )  # fmt: skip


class Course(NamedTuple):
    """State of a simulation, and its counts: enough to go on later."""

    mode: Integers  # (1,)
    state: Array  # (n,)
    slope: Array  # (n,) F there, where ``counts`` says that it is known
    typical: Array  # (n,) largest size of each state in this mode so far
    clock: Array  # see the names below
    counts: Integers
    guards: Guards


@kernel
def course_from(s: CompiledSystem, mode, t, x, span):
    """A ``Course`` of ``span`` seconds at its start, in the mode of an index, from a padded x."""
    clock, counts = np.array([t, np.nan, t, span]), np.zeros(6, np.int64)
    number, guards = np.array([mode]), guards_unseen(len(s.source))
    return Course(number, x.copy(), np.zeros_like(x), np.abs(x), clock, counts, guards)


# Of ``Course.clock`` [s]: the time, the next step, the start of the window, the whole duration.
TIME, NEXT, OPENED, SPAN = range(4)
# Of ``Course.counts``: steps, events, and those in the window, the transition of a failure, whether
# the slope is known, and resets in a row that have left the state inside their guard.
STEPS, EVENTS, CROWD, EDGE, KNOWN, INSIDE = range(6)


@kernel
def fired_at_once(s: CompiledSystem, mode, t, h, g: Guards):
    """Transition whose guard the state is in: deep inside, or on it and moving in; -1 if none.

    -2 - e where the guard of transition e is not finite.
    """
    for e in range(len(s.source)):
        if s.source[e] == mode and not s.rest[e] and g.trend[e] != IS_CLEAR:
            if g.trend[e] == BROKEN:
                return -2 - e
            if g.behind[e]:
                continue
            soon = -2.0 * time_tolerance(t, h) * g.rate[e]
            if g.value[e] < -g.tolerance[e] or (g.trend[e] == FALLS and g.value[e] <= soon):
                return e
    return -1


@kernel
def resting(s: CompiledSystem, mode):
    """Transition into a mode of rest that leaves a mode; -1 if none."""
    for e in range(len(s.source)):
        if s.source[e] == mode and s.rest[e]:
            return e
    return -1


@kernel
def earliest(s: CompiledSystem, mode, p: Piece, spacing, limits: Limits, g: Guards):
    """First guard met: (the step up to there, transition, how, another met at the same time).

    At a tie that of the transition given first; transitions are -1 where there is none, and the
    step is then the whole one.
    """
    first, edge, how, other, end = p.length, -1, NO_MEETING, -1, p.end
    tie = time_tolerance(p.time, p.span)
    for e in range(len(s.source)):
        if s.source[e] != mode or s.rest[e]:
            continue
        high = p.length if edge < 0 else min(first + tie, p.length)
        length, kind = first_meeting(s, mode, e, p, g, spacing, high, limits)
        if kind == NO_MEETING:
            continue
        if edge < 0 or length < first - tie:
            first, edge, how, other = length, e, kind, -1
            end = p.meeting.copy() if kind == OK else end_after(s, mode, p, length, limits)
        elif length <= first + tie and other < 0:
            other = e
    return (p if edge < 0 else cut_to(p, first, end)), edge, how, other


@kernel
def enter(log: Log, knot, edge, t, before, after):
    """Add a row to a log, which must have room."""
    i = log.count[0]
    log.knot[i], log.edge[i], log.time[i] = knot, edge, t
    put(log.before[i], before)
    put(log.after[i], after)
    log.count[0] = i + 1


@kernel
def enter_step(log: Log, knot, p: Piece):
    """Add a step to a log that keeps them."""
    if len(log.C) > 0:
        i = log.count[0]
        log.span[i] = p.span
        for k in range(DEGREE):
            put(log.C[i, k], p.C[k])
        enter(log, knot, np.int64(STEP), p.time, p.start, p.end)


@kernel
def is_violated(s: CompiledSystem, c: Course, other, edge, u, tolerance):
    """Whether a guard that was met together with another event is violated after that event."""
    mode, t = c.mode[0], c.clock[TIME]
    if s.target[other] == s.target[edge] or s.dims[mode] != s.dims[s.source[other]]:
        return False
    x, h = c.state[: s.dims[mode]].copy(), scale_time(c)
    value = guard(s, other, t, x, u)
    if value < -tolerance:
        return True
    rising = h * guard_rate(s, other, t, x, u, c.slope[: len(x)].copy(), h)
    return value <= tolerance and rising < 0.0


@inlined_kernel
def scale_time(c: Course):
    """Time [s] in which the flow, or the guards, change."""
    return min(c.clock[NEXT], c.clock[SPAN])


@kernel
def may_go_on(c: Course, spacing, limits: Limits, log: Log):
    """A status: whether the limits and the log have room for one more step or event."""
    if np.isfinite(spacing) and c.clock[TIME] - c.clock[OPENED] >= WINDOW * c.clock[SPAN]:
        c.clock[OPENED], c.counts[CROWD] = c.clock[TIME], 0
    if c.counts[STEPS] >= limits.max_steps:
        return TOO_STIFF
    return FULL if len(log.time) - log.count[0] < 3 else OK


@kernel
def prepare(s: CompiledSystem, c: Course, end, u, spacing, limits: Limits):
    """Find the slope, the length of a first step, and how the guards stand."""
    mode, t = c.mode[0], c.clock[TIME]
    x, slope = c.state[: s.dims[mode]].copy(), c.slope[: s.dims[mode]]
    if c.counts[KNOWN] == 0:
        put(slope, rate(s, mode, t, x, u))
        c.counts[KNOWN] = 1
    if np.isnan(c.clock[NEXT]):
        c.clock[NEXT] = end - t
        if np.isfinite(spacing) and finite(slope):
            c.clock[NEXT] = first_step(s, mode, t, x, u, end - t, slope, limits)
    look_around(s, mode, t, x, u, scale_time(c), limits, c.guards)


@kernel
def flow_on(s: CompiledSystem, c: Course, end, u, knot, spacing, limits: Limits, log: Log):
    """One step of integration, at most to a guard: (transition, another met with it, status)."""
    mode, t, g = c.mode[0], c.clock[TIME], c.guards
    x, slope, left = c.state[: s.dims[mode]].copy(), c.slope[: s.dims[mode]], end - t
    typical = c.typical[: s.dims[mode]]
    if not finite(slope):
        return -1, -1, NOT_FINITE
    trial = min(c.clock[NEXT], left)
    whole, last, following = take_piece(s, mode, t, x, u, trial, slope, typical, limits)
    c.counts[STEPS] += 1
    if not finite(whole.end):
        return -1, -1, NOT_FINITE
    if following == 0.0:
        return -1, -1, TOO_STIFF
    length = exit_length(s, mode, whole, g.behind, g, spacing)
    if length < whole.length:  # a step that ends before the guard
        c.clock[NEXT] = length
        return -1, -1, OK
    p, edge, how, other = earliest(s, mode, whole, spacing, limits, g)
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
    grow(typical, p.end)
    c.counts[INSIDE] = 0
    c.clock[TIME] = end if edge < 0 and p.length == left else t + p.length
    if edge < 0:
        put(slope, last)
        return edge, other, OK
    c.clock[NEXT], c.counts[EDGE] = max(c.clock[NEXT], p.length), edge
    if how == OK:
        put(slope, rate(s, mode, c.clock[TIME], p.end, u))
        falling = p.span * guard_rate(s, edge, c.clock[TIME], p.end, u, slope, p.span)
        if not falling < -SLOWEST / limits.guard * g.tolerance[edge]:
            how = GRAZING
    return edge, other, how


@kernel
def choose_rest(s: CompiledSystem, c: Course, edge, status, limits: Limits):
    """A transition into rest in place of one of many, or of a grazing one: (transition, status)."""
    if status != OK and status != GRAZING:
        return edge, status
    rest, crowd = resting(s, c.mode[0]), c.counts[CROWD]
    if rest >= 0 and (crowd >= limits.zeno_events or status == GRAZING):
        c.counts[CROWD] = 0
        return rest, OK
    many = crowd >= limits.zeno_events and not np.any(s.rest)
    if many or crowd >= 2 * limits.zeno_events or c.counts[EVENTS] >= limits.max_events:
        return edge, ZENO if status == OK else status
    return edge, status


@kernel
def jump(s: CompiledSystem, c: Course, edge, u, knot, log: Log):
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
    c.counts[CROWD] += 1
    if len(after) == len(x):
        depth = guard(s, edge, t, x, u)
        if depth < -c.guards.tolerance[edge] and guard(s, edge, t, after, u) <= depth:
            c.counts[INSIDE] += 1  # it stays inside
    c.mode[0] = target
    put(c.state, after)
    for i in range(len(after)):
        c.typical[i] = abs(after[i])
    for e in range(len(s.source)):
        c.guards.largest[e] = c.guards.tolerance[e] = 0.0
    return INSIDE_GUARD if c.counts[INSIDE] > len(s.source) else OK


@kernel
def note(s: CompiledSystem, c: Course, edge, other, knot, until, log: Log):
    """Enter an event that is only watched for, and another at the same time; a status."""
    status, x = OK, c.state[: s.dims[c.mode[0]]]
    for e in (edge, other):
        if e >= 0 and s.watch[e]:
            enter(log, knot, e, c.clock[TIME], x, x)
            c.guards.behind[e] = True  # it falls on
            status = STOPPED if until[e] else status
    return status


@kernel
def proceed(s: CompiledSystem, c: Course, end, u, knot, spacing, until, limits: Limits, log: Log):
    """Simulate on to the time ``end`` [s] with the input held; a status. Events go to the log.

    ``spacing`` [s] is how far apart a flow is looked at, infinite where a timestep is short enough.
    ``until`` (transitions,) says after which transitions to stop.
    """
    status, c.counts[KNOWN], c.counts[INSIDE] = OK, 0, 0
    edge = other = met = np.int64(-1)  # ``met`` together with the last one
    tolerance = 0.0
    while c.clock[TIME] < end and status == OK:
        status, last = may_go_on(c, spacing, limits, log), edge
        if status != OK:
            break
        prepare(s, c, end, u, spacing, limits)
        edge = fired_at_once(s, c.mode[0], c.clock[TIME], scale_time(c), c.guards)
        if edge < -1:
            c.counts[EDGE] = -2 - edge
            return GUARD_NOT_FINITE
        if edge < 0 and met >= 0 and is_violated(s, c, met, last, u, tolerance):
            c.counts[EDGE] = met
            return AMBIGUOUS
        other = met = np.int64(-1)
        if edge < 0:
            edge, other, status = flow_on(s, c, end, u, knot, spacing, limits, log)
            if edge < 0:
                continue
            if s.watch[edge]:
                if status == OK:
                    status = note(s, c, edge, other, knot, until, log)
                elif status == GRAZING:
                    status = OK
                continue
        edge, status = choose_rest(s, c, edge, status, limits)
        if other >= 0 and not s.watch[other]:
            met, tolerance = other, c.guards.tolerance[other]
        if status == OK:
            status = jump(s, c, edge, u, knot, log)
        if status == OK and until[edge]:
            status = STOPPED
    return status
