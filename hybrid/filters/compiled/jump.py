"""Kernel of a transition: the state after it, and the map of the covariance through it (3.2)."""

# ruff: noqa: N806 (the letters are the thesis's)

from __future__ import annotations

import numpy as np
from numba import njit

from hybrid.compiled.limits import Limits
from hybrid.compiled.location import guard_rate
from hybrid.filters.compiled.matrices import add, product, sandwich, times
from hybrid.filters.compiled.path import being_left, entered, fired
from hybrid.filters.compiled.slopes import (
    guard_by_time,
    guard_gradient,
    reset_by_time,
    reset_jacobian,
)
from hybrid.filters.compiled.tables import FilterTables
from hybrid.saltations import JUMPED


@njit(cache=True, error_model="numpy")
def set_off(f: FilterTables, mode, came_from, t, x, u, met, limits: Limits):
    """Transition that a reset to x sets off at once: its guard is jumped over; -1 if none is."""
    s = f.system
    if met:
        e = fired(s, mode, t, x, u, being_left(s, mode, came_from, t, x, u, limits), limits)
    else:
        e = entered(s, mode, t, x, u, limits)
    return e if e >= 0 and jumped_over(f, mode, e, t, x, u) else -1


@njit(cache=True, error_model="numpy")
def jumped_over(f: FilterTables, mode, e, t, x, u):
    """Whether a state lies so deep inside a guard that it did not get there by the flow."""
    rate = guard_rate(f.system, mode, e, t, x, u)
    return f.system.guards[e](t, x, u) < -JUMPED * max(1.0, abs(rate))


@njit(cache=True, error_model="numpy")
def jump(f: FilterTables, e, t, x, u, salted, met, seen, limits: Limits):
    """Transition e from the state x, and what it sets off, as one (``hybrid.chains``).

    With ``met`` the flow led to the guard, so that deep inside it is jumped over; without, a
    measurement did, and Xi is that of the state as it is (4.18); the chain then ends with the
    return to a mode that was ``seen`` (modes,). Returns (mode, state after, Xi or D_x R, noise of
    the resets, mode before the last of them, whether that led to a mode seen).
    """
    s, first, mode, came_from, again = f.system, e, f.system.source[e], -1, False
    D, D_t, after, noise = np.eye(len(x)), np.zeros(len(x)), x, np.zeros((len(x), len(x)))
    for _ in range(limits.max_events):
        D_xR = reset_jacobian(f, e, t, after, u)
        D, D_t = product(D_xR, D), times(D_xR, D_t) + reset_by_time(f, e, t, after, u)
        noise = sandwich(D_xR, noise)
        add(noise, f.W_R[e], 1.0)
        after, came_from, mode = s.resets[e](t, after.copy(), u), mode, s.target[e]
        again, seen[mode] = seen[mode], True
        e = set_off(f, mode, came_from, t, after, u, met, limits)
        if e < 0 or (again and not met):
            break
    if salted and not (met and jumped_over(f, s.source[first], first, t, x, u)):
        gradient, F = guard_gradient(f, first, t, x, u), s.flows[s.source[first]](t, x, u)
        rate = guard_by_time(f, first, t, x, u)
        for i in range(len(x)):
            rate += gradient[i] * F[i]
        if rate < -limits.minimum_rate:
            missed = s.flows[mode](t, after, u) - times(D, F) - D_t
            for i in range(D.shape[0]):
                for j in range(len(x)):
                    D[i, j] += missed[i] * gradient[j] / rate
    return mode, after, D, noise, came_from, again
