"""Kernels that say where an integration step may end: before it meets a guard."""

# ruff: noqa: N803 (C is the step's polynomial)

from __future__ import annotations

import numpy as np

from saltation.compiled.runge_kutta import dense_output, finite
from saltation.event_selected.machine import ON, EssLimits, Machine, is_on_guard
from saltation.event_selected.tables import Tables
from saltation.kernels import kernel

MIDDLE = 0.1  # of half the width of a neighbourhood, within which a cut step ends
SHORTEST = 1e-12  # part of a run, or of a step, that is taken as it is


@kernel
def events_within(s: Tables, x, C, part):
    """h (m,) at a part in [0, 1] of a step."""
    state = np.empty_like(x)
    dense_output(x, C, part, state)
    return s.events(state, s.p)


@kernel
def is_past(m: Machine, values):
    """Whether some candidate is beyond its guard."""
    for k in range(len(values)):
        if m.side[k] < 0.0 and values[k] > 0.0:
            return True
    return False


@kernel
def excess(m: Machine, values, limits: EssLimits):
    """Distance of the foremost candidate from the middle of a step's possible ends, [-1, 1] there.

    A step may end in N^epsilon before the guard. If it starts there, it may end in the nearer half
    of what lies ahead. If it starts on the guard and leaves it, the start counts as the guard.
    """
    most = -np.inf
    for k in range(len(values)):
        if m.side[k] < 0.0:
            if is_on_guard(m, k, limits):
                ahead = (values[k] - max(m.values[k], 0.0)) / (ON * limits.epsilon[k]) - 1.0
            else:
                ahead = 2.0 * values[k] / min(limits.epsilon[k], -0.5 * m.values[k]) + 1.0
            most = max(most, ahead)
    return most


@kernel
def is_unclear(s: Tables, m: Machine, C, part, values, limits: EssLimits):
    """Whether part of a step may meet some guard more than once, or h is not finite at its end.

    h is taken for the cubic through four of its values. It has no more zeros than its control
    points in Bernstein form, a to d below, have changes of sign.
    """
    if not finite(values):
        return True
    early = events_within(s, m.x, C, part / 3.0)
    late = events_within(s, m.x, C, part / 1.5)
    for k in range(len(values)):
        if m.side[k] < 0.0 or m.pending[k]:
            sign = -1.0 if m.pending[k] else 1.0
            a, d, tip = sign * m.values[k], sign * values[k], ON * limits.epsilon[k]
            b = (2.0 * d - 5.0 * a + sign * (18.0 * early[k] - 9.0 * late[k])) / 6.0
            c = (2.0 * a - 5.0 * d + sign * (18.0 * late[k] - 9.0 * early[k])) / 6.0
            if a > 0.0:
                tip += a
            if (b > tip and (c < 0.0 or d <= 0.0)) or (c > tip and d <= 0.0):
                return True
    return False


@kernel
def step_part(s: Tables, m: Machine, C, values, limits: EssLimits):
    """Part of a step that ends where the first candidate is about to be met; 1.0 for all of it.

    A step that is cut ends in the middle of the neighbourhood, so that the projection's error goes
    with epsilon squared and not with chance. Secants and halves by turns.
    """
    low, high = 0.0, 1.0
    while high > SHORTEST and is_unclear(s, m, C, high, values, limits):
        high *= 0.5
        values = events_within(s, m.x, C, high)
    above = excess(m, values, limits) if is_past(m, values) else -1.0
    if above <= 1.0:
        return high
    below = excess(m, m.values, limits)
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
