"""One family of hybrid systems: its flows, guards and resets read all their numbers from the input.

So a thousand random systems compile once. A vector u (SIZE,) holds, one block after the other, the
numbers of MODES modes, GUARDS guards and GUARDS resets. A state is [positions, velocities] in the
kinds of second order; with an odd dimension its last number is of first order.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numba import float64, int64, njit, types

from hybrid.systems import Array

MODES, GUARDS = 3, 4
DECAY, BALLISTIC, OSCILLATOR, VAN_DER_POL, RING = range(5)  # kinds of flow
LINEAR, CIRCLE, WAVE, MOVING = range(4)  # kinds of guard
KEEP, BOUNCE, AFFINE = range(3)  # kinds of reset
# Of a mode: kind, a (4,), c (4,), amplitude, centre and width of a pulse, amplitude, frequency and
# phase of a sine, and the component that both force.
MODE_SIZE = 16
# Of a guard: kind, components i and j, level, A, K, sign.
GUARD_SIZE, FIRST_GUARD = 8, MODES * MODE_SIZE
# Of a reset: kind, restitution, component, offsets (4,), gains (4,).
RESET_SIZE, FIRST_RESET = 11, FIRST_GUARD + GUARDS * GUARD_SIZE
SIZE = FIRST_RESET + GUARDS * RESET_SIZE
VECTOR = types.Array(float64, 1, "C")
NUMBERS = types.Array(float64, 1, "C", readonly=True)  # u, of which nothing is written


@njit(cache=True, error_model="numpy")
def _acceleration(kind, position, velocity, u, p, i):
    """Of pair i: a free flight, a damped oscillator, or van der Pol's."""
    c, frequency, damping = u[p + 5 + i], u[p + 1 + i], u[p + 3 + i]
    if kind == BALLISTIC:
        return c
    if kind == OSCILLATOR:
        return c - frequency * frequency * position - 2.0 * damping * velocity
    return c - frequency * frequency * position + damping * (1.0 - position**2) * velocity


@njit(VECTOR(float64, VECTOR, NUMBERS, int64), cache=True, error_model="numpy")
def field(t, x, u, m):
    """Flow F (n,) of mode m, with its forcing."""
    p, n = m * MODE_SIZE, len(x)
    kind, h = int(u[p]), n // 2
    rate = np.empty(n)
    for i in range(n):
        a, c = u[p + 1 + i], u[p + 5 + i]
        if kind == DECAY:
            rate[i] = c - a * x[i]
        elif kind == RING:
            rate[i] = c * math.sin(2.0 * x[(i + 1) % n]) - a * x[i]
        elif i < h:
            rate[i] = x[h + i]
        elif i >= 2 * h:
            rate[i] = c
        else:
            rate[i] = _acceleration(kind, x[i - h], x[i], u, p, i - h)
    s = (t - u[p + 10]) / u[p + 11]
    force = u[p + 9] * math.exp(-s * s) + u[p + 12] * math.sin(u[p + 13] * t + u[p + 14])
    rate[int(u[p + 15])] += force
    return rate


@njit(VECTOR(float64, VECTOR, NUMBERS, float64, int64), cache=True, error_model="numpy")
def solution(t, x, u, h, m):
    """State (n,) of an unforced mode of the kinds DECAY, BALLISTIC or OSCILLATOR after h [s]."""
    p, n = m * MODE_SIZE, len(x)
    kind, half = int(u[p]), n // 2
    end = x.copy()
    for i in range(n):
        a, c = u[p + 1 + i], u[p + 5 + i]
        if kind == DECAY:
            grown = h if a == 0.0 else -math.expm1(-a * h) / a
            end[i] = x[i] + (c - a * x[i]) * grown
        elif i >= 2 * half:
            end[i] = x[i] + c * h
        elif i < half and kind == BALLISTIC:
            end[i] = x[i] + h * (x[half + i] + 0.5 * h * c)
            end[half + i] = x[half + i] + h * c
        elif i < half:
            d, square = u[p + 3 + i], a * a
            w = math.sqrt(square - d * d)
            centre, shrink = c / square, math.exp(-d * h)
            cosine, sine = shrink * math.cos(w * h), shrink * math.sin(w * h) / w
            y, v = x[i] - centre, x[half + i]
            end[i] = centre + (cosine + d * sine) * y + sine * v
            end[half + i] = (cosine - d * sine) * v - square * sine * y
    return end


@njit(float64(float64, VECTOR, NUMBERS, int64), cache=True, error_model="numpy")
def guard_value(t, x, u, k):
    """Guard k: a line, a circle, a wave over another component, or a level that moves."""
    p = FIRST_GUARD + k * GUARD_SIZE
    kind, y, z = int(u[p]), x[int(u[p + 1])], x[int(u[p + 2])]
    level, A, K, sign = u[p + 3], u[p + 4], u[p + 5], u[p + 6]
    if kind == LINEAR:
        return sign * (y + A * z - level)
    if kind == CIRCLE:
        return sign * ((y - K) ** 2 + (A * z) ** 2 - level**2)
    if kind == WAVE:
        return sign * (y - level - A * math.sin(K * z))
    return sign * (y - level - A * math.sin(K * t))


@njit(VECTOR(float64, VECTOR, NUMBERS, int64, int64), cache=True, error_model="numpy")
def reset_state(t, x, u, k, n):
    """Reset k into a mode of n dimensions: nothing, an impact of one velocity, or an affine map."""
    p = FIRST_RESET + k * RESET_SIZE
    kind = int(u[p])
    after = np.empty(n)
    for i in range(n):
        y = x[i] if i < len(x) else 0.0
        after[i] = u[p + 3 + i] + u[p + 7 + i] * y if kind == AFFINE else y
    if kind == BOUNCE:
        after[int(u[p + 2])] *= -u[p + 1]
    return after


def flow_of(m: int) -> Callable:
    """Flow of mode m, as a system takes it."""
    return _named(lambda t, x, u: field(t, x, u, m), f"flow_{m}")


def guard_of(k: int) -> Callable:
    """Guard k."""
    return _named(lambda t, x, u: guard_value(t, x, u, k), f"guard_{k}")


def reset_of(k: int, n: int) -> Callable:
    """Reset k into a mode of n dimensions."""
    return _named(lambda t, x, u: reset_state(t, x, u, k, n), f"reset_{k}_{n}")


def solution_of(m: int) -> Callable:
    """Closed form of mode m."""
    return _named(lambda t, x, u, h: solution(t, x, u, h, m), f"solution_{m}")


def _named(function: Callable, name: str) -> Callable:
    """The function by a name of its own, by which numba tells its machine code from others'."""
    function.__qualname__ = name
    return function


def unforced(u: Array, m: int) -> bool:
    """Whether mode m has the closed form of `solution`."""
    p = m * MODE_SIZE
    return u[p] in (DECAY, BALLISTIC, OSCILLATOR) and u[p + 9] == u[p + 12] == 0.0
