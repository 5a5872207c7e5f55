"""Kernels of the projection step: across a guard along the tangent, and what that arms."""

# ruff: noqa: N803, N806 (D is Dh, C the polynomial of a piece)

from __future__ import annotations

import numpy as np
from numba import njit

from hybrid.compiled.calls import put
from hybrid.compiled.limits import NOT_FINITE, OK
from hybrid.compiled.runge_kutta import DEGREE, finite
from hybrid.event_selected.ending import ON, is_met
from hybrid.event_selected.machine import (
    CROSSINGS,
    GUARD,
    NOT_EVENT_SELECTED,
    TIME,
    EssLimits,
    Log,
    Machine,
)
from hybrid.event_selected.stepping import record
from hybrid.event_selected.tables import Tables

TRUST = 2.0  # largest factor by which a guard's rate may change on the way to it
LEEWAY = 10.0  # of the error with which a guard was met, for another on the same surface


@njit(cache=True, error_model="numpy")
def rate(D, k, slope):
    """grad h_k . f"""
    total = 0.0
    for i in range(len(slope)):
        total += D[k, i] * slope[i]
    return total


@njit(cache=True, error_model="numpy")
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


@njit(cache=True, error_model="numpy")
def is_trusted(s: Tables, m: Machine, D, j, dt, limits: EssLimits):
    """Whether guard j is still approached about as fast where the projection would end."""
    if is_met(m, j, limits):
        return True
    ahead = m.x.copy()
    for i in range(len(ahead)):
        ahead[i] += dt * m.slope[i]
    now, then = rate(D, j, m.slope), rate(D, j, s.flow(ahead, m.side, s.p))
    return now <= TRUST * then and then <= TRUST * now


@njit(cache=True, error_model="numpy")
def arm(s: Tables, m: Machine, j, limits: EssLimits):
    """Make the guards of row j candidates; one well above its zero waits until it is below."""
    met = max(abs(m.values[j]) / limits.epsilon[j], ON)
    for k in range(len(m.values)):
        if s.rearm[j, k]:
            if m.values[k] <= LEEWAY * met * limits.epsilon[k]:
                m.side[k] = -1.0
            elif m.side[k] > 0.0:
                m.waiting[k] = True


@njit(inline="always", error_model="numpy")
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
