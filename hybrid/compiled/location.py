"""Kernels that find where a step first meets a guard, to the tolerance asked for.

A guard is sampled along the step's dense output in windows of four points. A window is free of
roots where the cubic through its points, less what the cubic may be off, stays above zero; else it
is halved, and where that does not help its lowest point is located. A root is bracketed, narrowed
on the dense output, and located on the step itself, made again with another length: so an event's
time is as accurate as the integrator.

A step may start on a guard that it leaves: on the one that was just reset from. There g(h) / h is
searched, whose root at h = 0 is gone.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hybrid.compiled.calls import STEP, guard, rate
from hybrid.compiled.limits import GRAZING, GUARD_NOT_FINITE, NO_MEETING, OK, Limits
from hybrid.compiled.piece import Piece, cut, state_at
from hybrid.compiled.tables import CompiledSystem

FIRST, SECOND = 0.31, 0.64  # where a window is sampled between its ends
OFF = 0.1  # times the third divided difference: what a cubic may be off
RESOLVED = 0.2  # of the largest sample: a cubic that may be off by more is not trusted
HALVINGS = 12  # of a window
WINDOW = 6.0  # points of the resolution that a window spans
MINIMUM_STEPS = 200
EPSILON = np.finfo(np.float64).eps


@njit(cache=True, error_model="numpy")
def guard_rate(s: CompiledSystem, mode, e, t, x, u):
    """d/dt g along the flow (3.11), by a central difference along it."""
    ahead, behind, largest = x.copy(), x.copy(), 1.0
    slope = rate(s, mode, t, x, u)
    for i in range(len(x)):
        largest = max(largest, abs(slope[i]))
    h = STEP / largest
    for i in range(len(x)):
        ahead[i] += h * slope[i]
        behind[i] -= h * slope[i]
    return (guard(s, e, t + h, ahead, u) - guard(s, e, t - h, behind, u)) / (2.0 * h)


@njit(inline="always", error_model="numpy")
def value_at(s: CompiledSystem, mode, e, p: Piece, h, power):
    """g / h^power of guard e, h seconds after the start of a step, by its dense output."""
    value = guard(s, e, p.time + h, state_at(s, mode, p, h), p.input)
    return value / h**power if power > 0 else value


@njit(cache=True, error_model="numpy")
def first_meeting(s: CompiledSystem, mode, e, p: Piece, before, spacing, high, limits: Limits):
    """Where guard e, with the value ``before`` at the start, is first met: (length, how).

    Only up to ``high`` seconds. ``how`` is OK for a crossing, NO_MEETING, GRAZING or
    GUARD_NOT_FINITE.
    """
    power, start = _start(s, mode, e, p, before, high, limits)
    if power < 0:
        return 0.0, NO_MEETING if power == -1 else GRAZING
    windows = max(1, int(np.ceil(high / (WINDOW * spacing))))
    low, value = 0.0, start
    for i in range(windows):
        end = high if i == windows - 1 else high * (i + 1) / windows
        length, how, value = _window(s, mode, e, p, low, end, value, power, limits)
        if how != NO_MEETING:
            return length, how
        low, value, power = end, value * end**power, 0
    return 0.0, NO_MEETING


@njit(cache=True, error_model="numpy")
def _start(s: CompiledSystem, mode, e, p: Piece, before, high, limits: Limits):
    """Power of h to divide the guard by, and its value at h = 0.

    Power -1: the step stays on the guard, or is deep inside; -2: it grazes the guard at its start.
    """
    if before > limits.guard:
        return 0, before
    rate = guard_rate(s, mode, e, p.time, p.start, p.input)
    if before > 0.0 and not rate >= -limits.minimum_rate:
        return 0, before
    if before < -limits.guard:
        return -1, before
    if rate > limits.minimum_rate:
        return 1, rate
    near = 1e-3 * high
    value = value_at(s, mode, e, p, near, 2)
    if value > 0.0:
        return 2, value
    if before > 0.0:
        return 0, before
    last = value_at(s, mode, e, p, high, 0)
    if last >= -limits.guard:
        return -1, before
    return -2, before


@njit(cache=True, error_model="numpy")
def _window(s: CompiledSystem, mode, e, p: Piece, low, high, first, power, limits: Limits):
    """First meeting between low and high: (length, how, value at high); ``first`` is that at low.

    Halves that wait stand on a stack, the nearest on top.
    """
    ends, x, v = np.empty(HALVINGS + 2), np.empty(4), np.empty(4)
    levels = np.empty(HALVINGS + 2, dtype=np.int64)
    ends[0], levels[0], count, value = high, 0, 1, first
    while count > 0:
        count -= 1
        end, level = ends[count], levels[count]
        x[0], x[1], x[2], x[3] = low, low + FIRST * (end - low), low + SECOND * (end - low), end
        v[0], below = value, 4
        for k in range(1, 4):
            v[k] = value_at(s, mode, e, p, x[k], power)
            if np.isnan(v[k]):
                return x[k], GUARD_NOT_FINITE, v[k]
            if v[k] <= 0.0:
                below = min(below, k)
        turn, depth, off = _turn_of_cubic(v, below)
        if turn >= 0.0:  # where third differences vanish, the cubic may still be off
            at = low + turn * (end - low)
            off = max(off, abs(value_at(s, mode, e, p, at, power) - depth))
        peak = np.max(np.abs(v))
        resolved = off <= RESOLVED * peak or level == HALVINGS
        lowest = np.min(v[: min(below, 4)])
        if not resolved and (below < 4 or lowest - off <= 0.0):
            ends[count], levels[count] = end, level + 1
            ends[count + 1], levels[count + 1] = 0.5 * (low + end), level + 1
            count += 2
            continue
        if turn >= 0.0 and depth - off <= limits.guard / max(low, FIRST * end) ** power:
            at, depth = _minimum(s, mode, e, p, low, x[min(below, 3)], power)
            g = depth * at**power
            if g < -limits.guard or (depth <= 0.0 and power > 0):
                return _locate(s, mode, e, p, low, at, power, limits), OK, v[3]
            if g <= limits.guard and low < at < end and peak * end**power > 2.0 * limits.guard:
                return at, GRAZING, v[3]
        if below < 4:
            return _locate(s, mode, e, p, x[below - 1], x[below], power, limits), OK, v[3]
        low, value = end, v[3]
    return 0.0, NO_MEETING, value


@njit(cache=True, error_model="numpy")
def _turn_of_cubic(v, below):
    """Where the cubic through four samples is lowest between samples, in [0, 1] of their window.

    (place, value, what the cubic may be off); place -1 where it does not turn before the sample
    with the number ``below``.
    """
    x1, x2 = FIRST, SECOND
    ab, bc, cd = (v[1] - v[0]) / x1, (v[2] - v[1]) / (x2 - x1), (v[3] - v[2]) / (1.0 - x2)
    abc, bcd = (bc - ab) / x2, (cd - bc) / (1.0 - x1)
    abcd = bcd - abc
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
                value = v[0] + y * (ab + (y - x1) * (abc + (y - x2) * abcd))
                if value < depth:
                    place, depth = y, value
    return place, depth, off


@njit(cache=True, error_model="numpy")
def _minimum(s: CompiledSystem, mode, e, p: Piece, low, high, power):
    """Where a guard is lowest between two lengths, and its value, by golden sections."""
    ratio = 0.5 * (np.sqrt(5.0) - 1.0)
    a, b = low, high
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    at_c, at_d = value_at(s, mode, e, p, c, power), value_at(s, mode, e, p, d, power)
    for _ in range(MINIMUM_STEPS):
        if b - a <= 1e-4 * (high - low) or at_c == at_d:
            break
        if at_c < at_d:
            b, d, at_d = d, c, at_c
            c = b - ratio * (b - a)
            at_c = value_at(s, mode, e, p, c, power)
        else:
            a, c, at_c = c, d, at_d
            d = a + ratio * (b - a)
            at_d = value_at(s, mode, e, p, d, power)
    middle, lowest = (c, at_c) if at_c < at_d else (d, at_d)
    for width in (1e-3 * (high - low), 1e-5 * (high - low)):  # the vertex of a parabola
        left, right = max(middle - width, low), min(middle + width, high)
        centre = 0.5 * (left + right)
        v = value_at(s, mode, e, p, left, power)
        w = value_at(s, mode, e, p, centre, power)
        z = value_at(s, mode, e, p, right, power)
        bend = v - 2.0 * w + z
        if not bend > 0.0:
            break
        vertex = centre + 0.25 * (right - left) * (v - z) / bend
        if left < vertex < right:
            value = value_at(s, mode, e, p, vertex, power)
            if value <= lowest + 1e-3 * abs(bend):
                middle, lowest = vertex, value
    return middle, lowest


@njit(cache=True, error_model="numpy")
def _locate(s: CompiledSystem, mode, e, p: Piece, low, high, power, limits: Limits):
    """Length of the step that ends on guard e, positive at low and not at high.

    Narrowed on the dense output first, then on steps of other lengths.
    """
    tolerance = max(limits.event_time, 2.0 * EPSILON * (abs(p.time) + p.length))
    a, b, fall = _root(s, mode, e, p, low, high, power, 1e-9 * p.length, False, limits)
    at = 0.5 * (a + b)
    for _ in range(2):  # Newton's method, where the guard is smooth
        g = _exact(s, mode, e, p, at, power, limits)
        if not fall > 0.0 or abs(g / fall) > 1e-6 * p.length:
            break
        if g == 0.0:  # it may be zero before
            at -= 0.5 * tolerance
            g = _exact(s, mode, e, p, at, power, limits)
        at = min(max(at + g / fall, low), high)
        if abs(g / fall) <= tolerance:
            return at
    width = 1e-7 * p.length + 10.0 * (b - a)
    for _ in range(20):
        left, right = max(low, a - width), min(high, b + width)
        above = left <= low or _exact(s, mode, e, p, left, power, limits) > 0.0
        below = right >= high or _exact(s, mode, e, p, right, power, limits) <= 0.0
        if above and below:
            break
        width *= 10.0
    return _root(s, mode, e, p, left, right, power, tolerance, True, limits)[1]


@njit(cache=True, error_model="numpy")
def _exact(s: CompiledSystem, mode, e, p: Piece, h, power, limits: Limits):
    """g / h^power at the end of the step made with another length."""
    if h == 0.0:
        h = EPSILON * p.length
    end = p.end if h == p.length else cut(s, mode, p, h, limits).end
    value = guard(s, e, p.time + h, end, p.input)
    return value / h**power if power > 0 else value


@njit(cache=True, error_model="numpy")
def _root(s: CompiledSystem, mode, e, p: Piece, low, high, power, tolerance, exact, limits):
    """Bracket (low, high) of at most ``tolerance`` [s], and how fast the guard falls in it.

    The guard is positive at low only.
    Regula falsi (Anderson and Bjorck) with bisection where that is slow: a guard may fall to zero
    and stay there, or jump.
    """
    if exact:
        above = _exact(s, mode, e, p, low, power, limits)
        below = _exact(s, mode, e, p, high, power, limits)
    else:
        above = value_at(s, mode, e, p, max(low, EPSILON * p.length), power)
        below = value_at(s, mode, e, p, high, power)
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
            g = _exact(s, mode, e, p, h, power, limits)
        else:
            g = value_at(s, mode, e, p, h, power)
        if g > 0.0:
            if slow > 0:
                below *= max(0.5, 1.0 - g / above) if above > 0.0 else 0.5
            low, above = h, g
        else:
            high, below = h, g
        if high - low > 0.5 * width:
            slow += 1
        else:
            slow = 0
        width = high - low
    return low, high, fall
