"""Kernels of event-selected integration: listing 1 of Anderson and Revzen, with arming.

A projection is made where its first-order arrival time holds good; elsewhere steps are cut short
of the guard until it does. The print of listing 1 has errors: docs/errata.md.

Kernels that are called in one place are inlined there: numba optimises a function again within
each that calls it, and takes a third longer for the whole.
"""

# ruff: noqa: N803, N806 (D is Dh, C the polynomial of a piece)

from __future__ import annotations

import numpy as np

from saltation.compiled.calls import put
from saltation.compiled.limits import FULL, NOT_FINITE, OK, TOO_STIFF, ZENO
from saltation.compiled.runge_kutta import DEGREE, finite
from saltation.event_selected.machine import (
    CROSSINGS,
    GUARD,
    NEW,
    NOT_EVENT_SELECTED,
    ON,
    OPENED,
    STEPS,
    TIME,
    EssLimits,
    Log,
    Machine,
    is_on_guard,
)
from saltation.event_selected.stepping import record, step
from saltation.event_selected.tables import Tables
from saltation.kernels import inlined_kernel, kernel, unlocked_kernel

WINDOW = 1.0  # [s]: steps and crossings are counted anew after it
TRUST = 2.0  # largest factor by which a guard's rate may change on the way to it
LEEWAY = 10.0  # of the error with which a guard was met, for another on the same surface


@kernel
def rate(D, k, slope):
    """grad h_k . f"""
    total = 0.0
    for i in range(len(slope)):
        total += D[k, i] * slope[i]
    return total


@kernel
def first_arrival(m: Machine, D, limits: EssLimits):
    """Candidate that is reached first, and when [s]; -1 if none in its N^epsilon is approached."""
    first, dt, near = -1, np.inf, False
    for k in range(len(m.values)):
        if m.side[k] < 0.0:
            speed = rate(D, k, m.slope)
            if speed > 0.0:
                near |= m.values[k] >= -limits.epsilon[k]
                arrival = max(-m.values[k], 0.0) / speed
                if arrival < dt:
                    first, dt = k, arrival
    return first if near else -1, dt


@kernel
def is_reliable(s: Tables, m: Machine, D, j, dt, limits: EssLimits):
    """Whether guard j is still approached about as fast where the projection would end."""
    if is_on_guard(m, j, limits):
        return True
    ahead = m.x.copy()
    for i in range(len(ahead)):
        ahead[i] += dt * m.slope[i]
    now, then = rate(D, j, m.slope), rate(D, j, s.flow(ahead, m.side, s.p))
    return now <= TRUST * then and then <= TRUST * now


@kernel
def arm(s: Tables, m: Machine, j, limits: EssLimits):
    """Make the guards of row j candidates; one well above its zero waits until it is below."""
    error = max(abs(m.values[j]) / limits.epsilon[j], ON)
    for k in range(len(m.values)):
        if s.rearm[j, k]:
            if m.values[k] <= LEEWAY * error * limits.epsilon[k]:
                m.side[k] = -1.0
            elif m.side[k] > 0.0:
                m.pending[k] = True


@inlined_kernel
def project(s: Tables, m: Machine, D, j, dt, limits: EssLimits, log: Log):
    """Cross guard j along the tangent, section 3.1; a status."""
    C = np.zeros((DEGREE, len(m.x)))
    for i in range(len(m.x)):
        C[0, i] = dt * m.slope[i]
    record(m, m.clock[TIME] + dt, C, j, log)
    for i in range(len(m.x)):
        m.x[i] += C[0, i]
    m.clock[TIME] += dt
    m.side[j] = 1.0
    m.counts[CROSSINGS] += 1
    put(m.values, s.events(m.x, s.p))
    arm(s, m, j, limits)
    put(m.slope, s.flow(m.x, m.side, s.p))
    if not (finite(m.values) and finite(m.slope)):
        return NOT_FINITE
    if not rate(D, j, m.slope) > 0.0:  # what is behind the guard drives back to it
        m.counts[GUARD] = j
        return NOT_EVENT_SELECTED
    return OK


@inlined_kernel
def begin(s: Tables, m: Machine, limits: EssLimits):
    """Take every guard ahead, or that the start is on, for a candidate; a status."""
    put(m.values, s.events(m.x, s.p))
    for k in range(len(m.values)):
        m.side[k] = -1.0 if m.values[k] <= ON * limits.epsilon[k] else 1.0
    put(m.slope, s.flow(m.x, m.side, s.p))
    return OK if finite(m.values) and finite(m.slope) else NOT_FINITE


@kernel
def is_near(m: Machine, limits: EssLimits):
    """Whether some candidate is in its N^epsilon."""
    for k in range(len(m.values)):
        if m.side[k] < 0.0 and m.values[k] >= -limits.epsilon[k]:
            return True
    return False


@inlined_kernel
def advance(s: Tables, m: Machine, end_time, limits: EssLimits, log: Log):
    """Integrate and project by turns up to a time [s]; a status, FULL where the log is."""
    while m.clock[TIME] < end_time:
        if 0 < len(log.times) == log.count[0]:
            return FULL
        if m.clock[TIME] - m.clock[OPENED] >= WINDOW:
            m.clock[OPENED], m.counts[STEPS], m.counts[CROSSINGS] = m.clock[TIME], 0, 0
        if m.counts[STEPS] >= limits.steps.max_steps:
            return TOO_STIFF
        status, is_projection = OK, False
        if is_near(m, limits):
            D = s.events_state(m.x, s.p)
            j, dt = first_arrival(m, D, limits)
            if j >= 0 and m.clock[TIME] + dt <= end_time and is_reliable(s, m, D, j, dt, limits):
                if m.counts[CROSSINGS] >= limits.steps.max_events:
                    return ZENO
                status, is_projection = project(s, m, D, j, dt, limits, log), True
        if not is_projection:
            status = step(s, m, end_time, limits, log)
        if status != OK:
            return status
    return OK


@unlocked_kernel
def advance_all(s: Tables, machines, codes, first, stride, end_time, limits: EssLimits, log: Log):
    """Begin or take up again every so many of ``Machine.start``; ``codes`` (B,) are statuses.

    The only kernel that Python calls: one run alone and one of many are the same to the last bit.
    """
    x, slope, values, side, pending, clock, counts = machines
    for b in range(first, len(x), stride):
        m = Machine(x[b], slope[b], values[b], side[b], pending[b], clock[b], counts[b])
        if codes[b] == NEW:
            codes[b] = begin(s, m, limits)
        if codes[b] == OK or codes[b] == FULL:
            codes[b] = advance(s, m, end_time, limits, log)
