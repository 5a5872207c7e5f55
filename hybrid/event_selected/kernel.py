"""Kernels of event-selected integration: listing 1 of Anderson and Revzen, with arming.

A projection is made where its first-order arrival time holds good; elsewhere steps are cut short
of the guard until it does. The print of listing 1 has errors: docs/errata.md.

Kernels that are called in one place are inlined there: numba optimises a function again within
each that calls it, and takes a third longer for the whole.
"""

# ruff: noqa: N806 (D is Dh)

from __future__ import annotations

from numba import njit

from hybrid.compiled.calls import put
from hybrid.compiled.limits import FULL, NOT_FINITE, OK, TOO_STIFF, WINDOW, ZENO
from hybrid.compiled.runge_kutta import finite
from hybrid.event_selected.ending import ON
from hybrid.event_selected.machine import (
    CROSSINGS,
    NEW,
    OPENED,
    STEPS,
    TIME,
    EssLimits,
    Log,
    Machine,
)
from hybrid.event_selected.projection import first_arrival, is_trusted, project
from hybrid.event_selected.stepping import step
from hybrid.event_selected.tables import Tables


@njit(inline="always", error_model="numpy")
def begin(s: Tables, m: Machine, limits: EssLimits):
    """Take every guard ahead, or that the start is on, for a candidate; a status."""
    put(m.values, s.events(m.x, s.p))
    for k in range(len(m.values)):
        m.side[k] = -1.0 if m.values[k] <= ON * limits.epsilon[k] else 1.0
    put(m.slope, s.flow(m.x, m.side, s.p))
    return OK if finite(m.values) and finite(m.slope) else NOT_FINITE


@njit(cache=True, error_model="numpy")
def is_near(m: Machine, limits: EssLimits):
    """Whether some candidate is in its N^epsilon."""
    for k in range(len(m.values)):
        if m.side[k] < 0.0 and m.values[k] >= -limits.epsilon[k]:
            return True
    return False


@njit(inline="always", error_model="numpy")
def advance(s: Tables, m: Machine, end_time, limits: EssLimits, log: Log):
    """Integrate and project by turns up to a time [s]; a status, FULL where the log is."""
    while m.clock[TIME] < end_time:
        if 0 < len(log.times) == log.count[0]:
            return FULL
        if m.clock[TIME] - m.clock[OPENED] >= WINDOW:
            m.clock[OPENED], m.counts[STEPS], m.counts[CROSSINGS] = m.clock[TIME], 0, 0
        if m.counts[STEPS] >= limits.steps.max_steps:
            return TOO_STIFF
        status, crossed = OK, False
        if is_near(m, limits):
            D = s.events_state(m.x, s.p)
            j, dt = first_arrival(m, D, limits)
            if j >= 0 and m.clock[TIME] + dt <= end_time and is_trusted(s, m, D, j, dt, limits):
                if m.counts[CROSSINGS] >= limits.steps.max_events:
                    return ZENO
                status, crossed = project(s, m, D, j, dt, limits, log), True
        if not crossed:
            status = step(s, m, end_time, limits, log)
        if status != OK:
            return status
    return OK


@njit(cache=True, error_model="numpy", nogil=True)
def advance_all(s: Tables, machines, codes, first, every, end_time, limits: EssLimits, log: Log):
    """Begin or take up again every so many of ``Machine.start``; ``codes`` (B,) are statuses.

    The only kernel that Python calls: one run alone and one of many are the same to the last bit.
    """
    x, slope, values, side, waiting, clock, counts = machines
    for b in range(first, len(x), every):
        m = Machine(x[b], slope[b], values[b], side[b], waiting[b], clock[b], counts[b])
        if codes[b] == NEW:
            codes[b] = begin(s, m, limits)
        if codes[b] == OK or codes[b] == FULL:
            codes[b] = advance(s, m, end_time, limits, log)
