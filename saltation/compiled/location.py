"""Kernels that find where a step first meets a guard, to the tolerance asked for.

A guard is sampled along the step's dense output in windows of four points. A window is free of
roots where the cubic through its points, less what the cubic may be off, stays above zero; else it
is halved, and where that does not help its lowest point is located. Where the guard is smooth,
windows grow. A root is bracketed, narrowed on the dense output, and located on the step itself,
made again with another length: so an event's time is as accurate as the integrator.

A step may start on a guard that it leaves: on the one that was just reset from. There g(h) / h is
searched, whose root at h = 0 is gone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from saltation.arrays import Flags, Integers
from saltation.compiled.calls import STEP, guard, has_solution, put, rate
from saltation.compiled.limits import (
    EPSILON,
    GRAZING,
    GUARD_NOT_FINITE,
    NO_MEETING,
    OK,
    Limits,
    time_tolerance,
)
from saltation.compiled.piece import Piece, end_after, look_at
from saltation.compiled.tables import CompiledSystem
from saltation.kernels import inlined_kernel, kernel
from saltation.systems import Array

FIRST, SECOND = 0.31, 0.64  # where a window is sampled between its ends
OFF = 0.1  # times the third divided difference: what a cubic may be off
FIFTH = 0.82  # of a window: where the cubic is compared along a closed form
RESOLVED = 0.2  # of the largest sample: a cubic that may be off by more is not trusted
SMOOTH = 1e-3  # of the lowest sample: windows whose cubic is off by less may be longer
SHORT, WINDOW = 3.0, 12.0  # points of the resolution that a window spans, at first and at most
PARTS = 16.0  # points of the resolution, at least, in a step with a guard on edge
FIRST_LEVEL, LAST_LEVEL = 2, 14  # of halvings of a window: at first, and at most
MINIMUM_STEPS = 200
CLEAR = 1e-6  # of the largest value so far: a guard above this is not looked at closely
LATER = 1e-3  # of a step: when a guard is looked at again, to see how it goes on
SLOWEST = 1e-9  # of its scale over a step: a guard that moves by less stands still
FALLS, STANDS, RISES, IS_CLEAR, BROKEN = -1, 0, 1, 2, 3  # in ``Guards.trend``


class Guards(NamedTuple):
    """Values of a mode's guards at a state, and their scales since the mode was entered."""

    value: Array  # (transitions,)
    rate: Array  # (transitions,) d/dt g, where it was looked at
    trend: Integers  # (transitions,)
    tolerance: Array  # (transitions,) a guard this close to zero is met
    largest: Array  # (transitions,) largest value so far
    behind: Flags  # (transitions,) fires on edge, and has to be positive first


@kernel
def guards_unseen(count):
    """``Guards`` of so many transitions, before any is looked at."""
    number, whole = np.zeros((4, count)), np.zeros(count, np.int64)
    return Guards(number[0], number[1], whole, number[2], number[3], whole != 0)


@kernel
def guard_rate(s: CompiledSystem, e, t, x, u, slope, h):
    """d/dt g along the flow (3.11), by a central difference along it over a part of h [s]."""
    ahead, behind, h = x.copy(), x.copy(), STEP * h
    for i in range(len(x)):
        ahead[i] += h * slope[i]
        behind[i] -= h * slope[i]
    return (guard(s, e, t + h, ahead, u) - guard(s, e, t - h, behind, u)) / (2.0 * h)


@kernel
def look_closely(s: CompiledSystem, mode, e, t, x, u, h, limits: Limits, g: Guards):
    """Find the rate, the trend and the tolerance of a guard near zero; h [s] is a step's length.

    The scale is by how much the guard changes in h, or changed if the state did by itself.
    """
    slope, value, turned, later = rate(s, mode, t, x, u), g.value[e], x.copy(), x.copy()
    rising, after = guard_rate(s, e, t, x, u, slope, h), LATER * h
    for i in range(len(x)):
        turned[i] *= 1.0 + STEP * np.cos(i + 1.0)
        later[i] += after * slope[i]
    bend = rate(s, mode, t + after, later, u)
    for i in range(len(x)):
        later[i] += 0.5 * after * (bend[i] - slope[i])
    change = guard(s, e, t + after, later, u) - value
    scale = h * abs(rising)
    for part in (abs(change) / LATER, abs(guard(s, e, t, turned, u) - value) / STEP):
        if part > scale and np.isfinite(part):
            scale = part
    g.rate[e], g.trend[e] = rising, STANDS
    g.tolerance[e] = max(g.tolerance[e], limits.guard * scale)
    strong = h * abs(rising) > LATER * scale
    if h * rising < -SLOWEST * scale and (strong or change < 0.0):
        g.trend[e] = FALLS
    elif h * rising > SLOWEST * scale:
        g.trend[e] = RISES
    elif np.isnan(value) or (np.isnan(rising) and value <= 0.0):
        g.trend[e] = BROKEN


@kernel
def look_around(s: CompiledSystem, mode, t, x, u, h, limits: Limits, g: Guards):
    """Find how the guards of a mode stand; h [s] is as in ``look_closely``."""
    for e in range(len(s.source)):
        if s.source[e] == mode and not s.rest[e]:
            g.value[e] = value = guard(s, e, t, x, u)
            clear = max(CLEAR * g.largest[e], g.tolerance[e])  # the largest may be a rounding error
            if value > clear and g.largest[e] > 0.0:
                g.trend[e] = IS_CLEAR
            else:
                look_closely(s, mode, e, t, x, u, h, limits, g)
            was_ahead = g.largest[e] > 0.0 and not g.behind[e]  # since the mode was entered
            g.largest[e] = max(g.largest[e], abs(value))
            g.tolerance[e] = max(g.tolerance[e], limits.guard * g.largest[e])
            on_it = g.trend[e] == FALLS and value <= g.tolerance[e] and not was_ahead
            g.behind[e] = s.on_edge[e] and (value < -g.tolerance[e] or on_it)


class Height(NamedTuple):
    """A guard along a step, divided by a power of the time since its start: g(h) / h^power."""

    mode: int
    edge: int  # index of the transition
    power: int
    sign: float  # 1, or -1 for the depth below the guard, -g(h) / h^power


@inlined_kernel
def look_height(s: CompiledSystem, g: Height, p: Piece, x, u, C, state, h):
    """``height_at`` with x, u, C and ``state`` of the piece, which loops take out of it once."""
    look_at(s, g.mode, p.time, x, u, C, h / p.span, h, state)
    value = g.sign * guard(s, g.edge, p.time + h, state, u)
    return value / h**g.power if g.power > 0 else value


@kernel
def height_at(s: CompiledSystem, g: Height, p: Piece, h):
    """The height h seconds after the start of a step, by its dense output."""
    return look_height(s, g, p, p.start, p.input, p.C, p.look, h)


@kernel
def height_after(s: CompiledSystem, g: Height, p: Piece, h, limits: Limits):
    """The height at the end of the step made with another length, which goes to ``p.meeting``."""
    if h == 0.0:
        h = EPSILON * p.length
    put(p.meeting, p.end if h == p.length else end_after(s, g.mode, p, h, limits))
    value = g.sign * guard(s, g.edge, p.time + h, p.meeting, p.input)
    return value / h**g.power if g.power > 0 else value


@kernel
def first_meeting(s: CompiledSystem, mode, e, p: Piece, at: Guards, spacing, high, limits: Limits):
    """First meeting with guard e, which stands as ``at`` says at the start: (length, how).

    Only up to ``high`` seconds. ``how`` is OK for a crossing, with the state in ``p.meeting``,
    NO_MEETING, GRAZING or GUARD_NOT_FINITE.
    """
    power, value = _start(s, mode, e, p, at, high)
    if power < 0:
        return 0.0, NO_MEETING if power == -1 else GRAZING
    g = Height(mode, e, power, 1.0)
    if s.on_edge[e]:  # what it falls from may be as short as what it is entered behind
        spacing = min(spacing, p.length / PARTS)
    low, length, how, g = _first_root(s, g, p, value, at.tolerance[e], spacing, high)
    return _locate(s, g, p, low, length, limits) if how == OK else length, how


@kernel
def exit_length(s: CompiledSystem, mode, p: Piece, behind, at: Guards, spacing):
    """Length [s] of a step after which a guard that it is ``behind`` (transitions,) is positive.

    The whole step if none is; the guards stand as ``at`` says at the start. A guard that is left
    for less than ``spacing`` [s], or a ``PARTS``-th of the step may be overlooked.
    """
    first, spacing = p.length, min(spacing, p.length / PARTS)
    for e in range(len(behind)):
        if behind[e] and s.source[e] == mode:
            on_it = at.value[e] >= -at.tolerance[e]
            g = Height(mode, e, 1 if on_it else 0, -1.0)
            depth = -at.rate[e] if on_it else -at.value[e]
            _, length, how, _ = _first_root(s, g, p, depth, at.tolerance[e], spacing, first)
            if how == OK:
                first = length
    return first


@kernel
def _first_root(s: CompiledSystem, g: Height, p: Piece, value, tolerance, spacing, high):
    """First root of a height that has a value at h = 0: (above it, not above it, how, the height).

    The last is the height whose sign was found: without the power, where that was far behind.
    """
    x, u, C, state, closed = p.start, p.input, p.C, p.look, has_solution(s, g.mode)
    windows = max(1, int(np.ceil(high / (WINDOW * spacing))))
    # Looked at are parts k to k + 1 of ``parts``: windows, each halved ``level`` times.
    base = 0
    while base < FIRST_LEVEL and (windows << base) * SHORT * spacing < high:
        base += 1
    level = base
    parts, k, low, at_low = windows << level, 0, 0.0, value
    while k < parts:
        end = high if k == parts - 1 else high * (k + 1) / parts
        h = (low, low + FIRST * (end - low), low + SECOND * (end - low), end)
        v = (
            at_low,
            look_height(s, g, p, x, u, C, state, h[1]),
            look_height(s, g, p, x, u, C, state, h[2]),
            look_height(s, g, p, x, u, C, state, end),
        )
        below = np.int64(4)
        for i in range(3, 0, -1):
            if np.isnan(v[i]):
                return h[i], h[i], GUARD_NOT_FINITE, g
            if v[i] <= 0.0:
                below = i
        differences = _differences(v)
        turn, depth, off = _turn_of_cubic(v, differences, below)
        if turn >= 0.0:  # where third differences vanish, the cubic may still be off
            at = low + turn * (end - low)
            value = look_height(s, g, p, x, u, C, state, at)
            off = max(off, abs(value - depth))
        if closed:  # no integrator has found how fast it changes: it may turn between all samples
            value = look_height(s, g, p, x, u, C, state, low + FIFTH * (end - low))
            off = max(off, abs(value - _on_cubic(at_low, differences, FIFTH)))
        lowest, peak = _extent(v, below)
        smooth, resolved = off <= SMOOTH * lowest, off <= RESOLVED * peak or level == LAST_LEVEL
        coarse = level < base and not smooth
        if coarse or (not resolved and (closed or below < 4 or lowest - off <= 0.0)):
            level, parts, k = level + 1, 2 * parts, 2 * k
            continue
        if turn >= 0.0 and depth - off <= tolerance / max(low, FIRST * end) ** g.power:
            at, depth = _minimum(s, g, p, low, h[min(below, 3)])
            lowest = depth * at**g.power
            if lowest < -tolerance or (depth <= 0.0 and g.power > 0):
                return low, at, OK, g
            near = lowest <= tolerance < 0.5 * peak * end**g.power
            if near and low < at < end and g.sign > 0.0:
                return at, at, GRAZING, g
        if below < 4:
            return h[below - 1], h[below], OK, g
        low, at_low, k = end, v[3], k + 1
        while level > (0 if smooth else base) and k % 2 == 0:
            level, parts, k = level - 1, parts // 2, k // 2
        if level <= base and g.power > 0:
            g, at_low = Height(g.mode, g.edge, 0, g.sign), at_low * end**g.power
    return 0.0, 0.0, NO_MEETING, g


@kernel
def _start(s: CompiledSystem, mode, e, p: Piece, at: Guards, high):
    """Power of h to divide the guard by, and its value at h = 0.

    Power -1: the step stays on the guard, or is deep inside; -2: it grazes the guard at its start.
    """
    before, trend, tolerance = at.value[e], at.trend[e], at.tolerance[e]
    if at.behind[e]:
        return -1, before
    if trend == IS_CLEAR or before > tolerance or (before > 0.0 and trend == FALLS):
        return 0, before
    if before < -tolerance or trend == FALLS:
        return -1, before
    if trend == RISES:
        return 1, at.rate[e]
    near = 1e-3 * high
    value = height_at(s, Height(mode, e, 2, 1.0), p, near)
    if value > 0.0:
        return 2, value
    if before > 0.0:
        return 0, before
    last = height_at(s, Height(mode, e, 0, 1.0), p, high)
    if last >= -tolerance:
        return -1, before
    return -2, before


@inlined_kernel
def _extent(v, below):
    """Lowest of four samples before the one with the number ``below``, and the largest of all."""
    lowest, peak = v[0], max(abs(v[0]), abs(v[1]), abs(v[2]), abs(v[3]))
    for i in range(1, min(below, 4)):
        lowest = min(lowest, v[i])
    return lowest, peak


@inlined_kernel
def _differences(v):
    """First, second and third divided difference of four samples, at the start of their window."""
    x1, x2 = FIRST, SECOND
    ab, bc, cd = (v[1] - v[0]) / x1, (v[2] - v[1]) / (x2 - x1), (v[3] - v[2]) / (1.0 - x2)
    abc, bcd = (bc - ab) / x2, (cd - bc) / (1.0 - x1)
    return ab, abc, bcd - abc


@inlined_kernel
def _on_cubic(first, differences, y):
    """Value at y, in [0, 1] of a window, of the cubic through samples with these differences."""
    ab, abc, abcd = differences
    return first + y * (ab + (y - FIRST) * (abc + (y - SECOND) * abcd))


@kernel
def _turn_of_cubic(v, differences, below):
    """Place of the lowest point of the cubic through four samples, in [0, 1] of their window.

    (place, value, what the cubic may be off); place -1 where it does not turn before the sample
    with the number ``below``.
    """
    x1, x2, (ab, abc, abcd) = FIRST, SECOND, differences
    # p'(y) = ab + abc (2 y - x1) + abcd (3 y^2 - 2 (x1 + x2) y + x1 x2)
    A, B = 3.0 * abcd, 2.0 * abc - 2.0 * (x1 + x2) * abcd
    C = ab - abc * x1 + abcd * x1 * x2
    square, last = B * B - 4.0 * A * C, 1.0
    if below < 4:
        last = x1 if below == 2 else (x2 if below == 3 else 0.0)
    place, depth, off = -1.0, np.inf, OFF * abs(abcd)
    if square >= 0.0:
        q = -0.5 * (B + np.copysign(np.sqrt(square), B))
        for k in range(2):
            if (k == 0 and A == 0.0) or (k == 1 and q == 0.0):
                continue
            y = q / A if k == 0 else C / q
            if 0.0 < y < last:
                value = _on_cubic(v[0], differences, y)
                if value < depth:
                    place, depth = y, value
    return place, depth, off


@kernel
def _minimum(s: CompiledSystem, g: Height, p: Piece, low, high):
    """Place and value of a guard's minimum between two lengths, by golden sections."""
    ratio = 0.5 * (np.sqrt(5.0) - 1.0)
    a, b = low, high
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    at_c, at_d = height_at(s, g, p, c), height_at(s, g, p, d)
    for _ in range(MINIMUM_STEPS):
        if b - a <= 1e-4 * (high - low) or at_c == at_d:
            break
        if at_c < at_d:
            b, d, at_d = d, c, at_c
            c = b - ratio * (b - a)
            at_c = height_at(s, g, p, c)
        else:
            a, c, at_c = c, d, at_d
            d = a + ratio * (b - a)
            at_d = height_at(s, g, p, d)
    middle, lowest = (c, at_c) if at_c < at_d else (d, at_d)
    for width in (1e-3 * (high - low), 1e-5 * (high - low)):  # the vertex of a parabola
        left, right = max(middle - width, low), min(middle + width, high)
        centre = 0.5 * (left + right)
        v = height_at(s, g, p, left)
        w = height_at(s, g, p, centre)
        z = height_at(s, g, p, right)
        bend = v - 2.0 * w + z
        if not bend > 0.0:
            break
        vertex = centre + 0.25 * (right - left) * (v - z) / bend
        if left < vertex < right:
            value = height_at(s, g, p, vertex)
            if value <= lowest + 1e-3 * abs(bend):
                middle, lowest = vertex, value
    return middle, lowest


@kernel
def _locate(s: CompiledSystem, g: Height, p: Piece, low, high, limits: Limits):
    """Length of the step that ends on a guard, positive at low and not at high.

    Narrowed on the dense output first, then on steps of other lengths.
    """
    tolerance = time_tolerance(p.time, p.span)
    a, b, fall = _root(s, g, p, low, high, 1e-9 * p.length, np.bool_(False), limits)
    at = 0.5 * (a + b)
    if fall > 0.0:
        at = min(max(at + height_at(s, g, p, at) / fall, a), b)
    for i in range(3):  # Newton's method, where the guard is smooth
        error = height_after(s, g, p, at, limits) / fall
        if not fall > 0.0 or not abs(error) <= 1e-6 * p.length:
            break
        if 0.0 < abs(error) <= (0.01 * tolerance if i < 2 else tolerance):
            return at
        at += error if error != 0.0 else -0.5 * tolerance  # where it is zero, it may be before
        at = min(max(at, low), high)
    width = 1e-7 * p.length + 10.0 * (b - a)
    for _ in range(20):
        left, right = max(low, a - width), min(high, b + width)
        above = left <= low or height_after(s, g, p, left, limits) > 0.0
        below = right >= high or height_after(s, g, p, right, limits) <= 0.0
        if above and below:
            break
        width *= 10.0
    at = _root(s, g, p, left, right, tolerance, np.bool_(True), limits)[1]
    height_after(s, g, p, at, limits)
    return at


@kernel
def _root(s: CompiledSystem, g: Height, p: Piece, low, high, tolerance, exact, limits: Limits):
    """Bracket (low, high) of at most ``tolerance`` [s], and how fast the guard falls in it.

    The guard is positive at low only. ``exact`` makes steps in place of the dense output.
    Regula falsi (Anderson and Bjorck) with bisection where that is slow: a guard may fall to zero
    and stay there, or jump.
    """
    x, u, C, state = p.start, p.input, p.C, p.look
    if exact:
        above = height_after(s, g, p, low, limits)
        below = height_after(s, g, p, high, limits)
    else:
        above = look_height(s, g, p, x, u, C, state, max(low, EPSILON * p.length))
        below = look_height(s, g, p, x, u, C, state, high)
    if not below <= 0.0:
        return high, high, 0.0
    if not above > 0.0:
        above = abs(below) + 1e-300
    width, slow, fall = high - low, 0, 0.0
    for _ in range(200):
        if high - low <= tolerance:
            break
        middle = 0.5 * (low + high)
        if below < 0.0 and slow < 3:
            fall = (above - below) / (high - low)
            h = high + below / fall
            h = min(max(h, low + 0.4 * tolerance), high - 0.4 * tolerance)
            if not low < h < high:
                h = middle
        else:
            h, slow = middle, 0
        if exact:
            value = height_after(s, g, p, h, limits)
        else:
            value = look_height(s, g, p, x, u, C, state, h)
        if value > 0.0:
            if slow > 0:
                below *= max(0.5, 1.0 - value / above) if above > 0.0 else 0.5
            low, above = h, value
        else:
            high, below = h, value
        if high - low > 0.5 * width:
            slow += 1
        else:
            slow = 0
        width = high - low
    return low, high, fall
