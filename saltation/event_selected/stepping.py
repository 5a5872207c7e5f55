"""Kernels of the integration step: Dormand-Prince up to the neighbourhood of a guard."""

# ruff: noqa: N803, N806 (K is the table of Runge-Kutta slopes, C the step's polynomial)

from __future__ import annotations

import numpy as np
from numba.extending import overload

from saltation.compiled.calls import put, rate
from saltation.compiled.limits import NOT_FINITE, OK
from saltation.compiled.runge_kutta import (
    ALL,
    DEGREE,
    LAST,
    ORDER,
    dormand_prince,
    error_ratio,
    estimate_errors,
    finite,
    polynomial,
    resized,
)
from saltation.event_selected.ending import SHORTEST, step_part
from saltation.event_selected.machine import STEP, STEPS, TIME, EssLimits, Log, Machine
from saltation.event_selected.tables import Tables
from saltation.kernels import inlined_kernel, kernel


@overload(rate, inline="always")
def _rate(s, mode, t, y, u):
    """Rate for the shared integrator: the flow with the sides of all guards as its input."""
    if getattr(s, "instance_class", None) is Tables:
        return lambda s, mode, t, y, u: s.flow(y, u, s.p)
    return None


@kernel
def accept_step(s: Tables, m: Machine, trial, end_time, K, limits: EssLimits):
    """First step within the tolerance, at most ``trial`` [s]: (end, its length, next to try)."""
    h, errors = trial, np.empty(len(m.x))
    while True:
        end = dormand_prince(s, 0, 0.0, m.x, m.side, h, K)
        estimate_errors(h, K, errors)
        size = error_ratio(m.x, end, errors, m.x, 0.0, limits.steps)
        if size <= 1.0 or h <= SHORTEST * end_time:
            return end, h, h * resized(min(size, 1.0), ORDER)
        h *= resized(size, ORDER)


@inlined_kernel
def step(s: Tables, m: Machine, end_time, limits: EssLimits, log: Log):
    """Integrate on by one step, at most into the neighbourhood of a candidate; a status."""
    K, C = np.empty((ALL, len(m.x))), np.empty((DEGREE, len(m.x)))
    put(K[0], m.slope)
    rest = end_time - m.clock[TIME]
    trial = min(m.clock[STEP], limits.steps.max_step, rest)
    end, h, m.clock[STEP] = accept_step(s, m, trial, end_time, K, limits)
    if not finite(end):
        return NOT_FINITE
    polynomial(s, 0, 0.0, m.x, m.side, h, end, K, C)
    values = s.events(end, s.p)
    part = step_part(s, m, C, values, limits)
    if part < 1.0:
        h *= part
        end = dormand_prince(s, 0, 0.0, m.x, m.side, h, K)
        polynomial(s, 0, 0.0, m.x, m.side, h, end, K, C)
        values = s.events(end, s.p)
    time = end_time if h == rest else m.clock[TIME] + h
    record(m, time, C, np.int64(-1), log)
    m.clock[TIME] = time
    m.counts[STEPS] += 1
    put(m.x, end)
    put(m.values, values)
    put(m.slope, K[LAST])
    arm_pending(s, m)
    return OK if finite(values) and finite(m.slope) else NOT_FINITE


@kernel
def arm_pending(s: Tables, m: Machine):
    """Make candidates of the guards that waited to be below zero and now are."""
    for k in range(len(m.values)):
        if m.pending[k] and m.values[k] < 0.0:
            m.pending[k], m.side[k] = False, -1.0
            put(m.slope, s.flow(m.x, m.side, s.p))


@kernel
def record(m: Machine, time, C, guard, log: Log):
    """Add a piece from the machine's state up to a time to the log, if it records."""
    i = log.count[0]
    if i < len(log.times):
        log.times[i], log.guards[i] = time, guard
        put(log.starts[i], m.x)
        for j in range(DEGREE):
            put(log.curves[i, j], C[j])
        log.count[0] = i + 1
