"""Kernels of the integration step: Dormand-Prince up to the neighbourhood of a guard."""

# ruff: noqa: N803, N806 (K is the table of Runge-Kutta slopes, C the step's polynomial)

from __future__ import annotations

import numpy as np
from numba import njit

from hybrid import integration
from hybrid.compiled.runge_kutta import error_ratio, finite, put, resized, stage
from hybrid.event_selected.machine import (
    NOT_FINITE,
    OK,
    STEP,
    STEPS,
    TIME,
    EssLimits,
    Log,
    Machine,
)
from hybrid.event_selected.tables import Tables

DENSE = integration._DENSE
ON = 1e-9  # of epsilon: nearer to its zero than this, a guard is met
MIDDLE = 0.1  # of half the width of a neighbourhood, within which a cut step ends
SHORTEST = 1e-12  # a step that has shrunk to this part of the run is taken as it is


@njit(cache=True, error_model="numpy")
def dormand_prince(s: Tables, m: Machine, h, K):
    """One step of h [s]: the fifth-order end (n,); K (7, n) is filled with the slopes."""
    put(K[0], m.slope)
    end = m.x
    for i in range(1, 7):
        end = stage(i, m.x, h, K)
        put(K[i], s.flow(end, m.side, s.p))
    return end


@njit(cache=True, error_model="numpy")
def polynomial(x, end, h, K, C):
    """Fill C (4, n) with the continuous extension of a step, ``hybrid.integration``."""
    for i in range(len(x)):
        bend = 0.0
        for j in range(7):
            bend += DENSE[j] * K[j, i]
        C[0, i] = end[i] - x[i]
        C[1, i] = h * K[0, i] - C[0, i]
        C[2, i] = C[0, i] - h * K[6, i] - C[1, i]
        C[3, i] = h * bend


@njit(cache=True, error_model="numpy")
def events_within(s: Tables, x, C, part):
    """h (m,) at a part in [0, 1] of a step."""
    y, left = x.copy(), 1.0 - part
    for i in range(len(x)):
        y[i] += part * (C[0, i] + left * (C[1, i] + part * (C[2, i] + left * C[3, i])))
    return s.events(y, s.p)


@njit(cache=True, error_model="numpy")
def excess(m: Machine, values, limits: EssLimits):
    """How far the foremost candidate is from the middle of where a step may end, in [-1, 1] there.

    That is N^epsilon before the guard; for a candidate that begins in it, the nearer half of what
    lies ahead. Those that begin on their guard are left to ``departed``.
    """
    most = -np.inf
    for k in range(len(values)):
        if m.side[k] < 0.0 and m.values[k] < -ON * limits.epsilon[k]:
            width = min(limits.epsilon[k], -0.5 * m.values[k])
            most = max(most, 2.0 * values[k] / width + 1.0)
    return most


@njit(cache=True, error_model="numpy")
def departed(s: Tables, m: Machine, C, values, limits: EssLimits):
    """Part of a step that ends before a guard is met that the step began on and then left."""
    part = 1.0
    for k in range(len(values)):
        on = m.side[k] < 0.0 and m.values[k] >= -ON * limits.epsilon[k]
        if on and values[k] > max(0.0, m.values[k]):  # it came back; else it is yet to leave
            length = part
            for _ in range(40):
                length *= 0.5
                if events_within(s, m.x, C, length)[k] < -ON * limits.epsilon[k]:
                    part = length
                    break
    return part


@njit(cache=True, error_model="numpy")
def allowed(s: Tables, m: Machine, C, values, limits: EssLimits):
    """Part of a step that ends where the first candidate is about to be met; 1.0 for all of it.

    A step that is cut ends in the middle of the neighbourhood, so that the projection's error goes
    with epsilon squared and not with chance. Secants and halves by turns.
    """
    high = departed(s, m, C, values, limits)
    above = excess(m, values if high == 1.0 else events_within(s, m.x, C, high), limits)
    if above <= 1.0:
        return high
    low, below = 0.0, excess(m, m.values, limits)
    for i in range(200):
        part = 0.5 * (low + high)
        if i % 2 == 0:
            part = low - below * (high - low) / (above - below)
        value = excess(m, events_within(s, m.x, C, part), limits)
        if abs(value) <= MIDDLE:
            return part
        if value > 0.0:
            high, above = part, value
        else:
            low, below = part, value
    return high


@njit(cache=True, error_model="numpy")
def accepted(s: Tables, m: Machine, trial, end_time, K, limits: EssLimits):
    """First step within the tolerance, at most ``trial`` [s]: (end, its length, next to try)."""
    h = trial
    while True:
        end = dormand_prince(s, m, h, K)
        size = error_ratio(m.x, end, h, K, limits.of_steps)
        if size <= 1.0 or h <= SHORTEST * end_time:
            return end, h, h * resized(min(size, 1.0))
        h *= resized(size)


@njit(cache=True, error_model="numpy")
def step(s: Tables, m: Machine, end_time, limits: EssLimits, log: Log):
    """Integrate on by one step, at most into the neighbourhood of a candidate; a status."""
    K, C = np.empty((7, len(m.x))), np.empty((4, len(m.x)))
    left = end_time - m.clock[TIME]
    trial = min(m.clock[STEP], limits.of_steps.max_step, left)
    end, h, m.clock[STEP] = accepted(s, m, trial, end_time, K, limits)
    if not finite(end):
        return NOT_FINITE
    polynomial(m.x, end, h, K, C)
    values = s.events(end, s.p)
    part = allowed(s, m, C, values, limits)
    if part < 1.0:
        h *= part
        end = dormand_prince(s, m, h, K)
        polynomial(m.x, end, h, K, C)
        values = s.events(end, s.p)
    time = end_time if h == left else m.clock[TIME] + h
    record(m, time, C, -1, log)
    m.clock[TIME] = time
    m.counts[STEPS] += 1
    put(m.x, end)
    put(m.values, values)
    put(m.slope, K[6])
    awake(s, m)
    return OK if finite(values) and finite(m.slope) else NOT_FINITE


@njit(cache=True, error_model="numpy")
def awake(s: Tables, m: Machine):
    """Make candidates of the guards that waited to be below zero and now are."""
    for k in range(len(m.values)):
        if m.waiting[k] and m.values[k] < 0.0:
            m.waiting[k], m.side[k] = False, -1.0
            put(m.slope, s.flow(m.x, m.side, s.p))


@njit(cache=True, error_model="numpy")
def record(m: Machine, time, C, guard, log: Log):
    """Add a piece from the machine's state up to a time to the log, if it records."""
    i = log.count[0]
    if i < len(log.times):
        log.times[i], log.guards[i] = time, guard
        put(log.starts[i], m.x)
        for j in range(4):
            put(log.curves[i, j], C[j])
        log.count[0] = i + 1
