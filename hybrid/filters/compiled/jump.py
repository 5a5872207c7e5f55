"""Kernel of a transition: the state after it, and the map of the covariance through it (3.2)."""

# ruff: noqa: N806 (the letters are the thesis's)

from __future__ import annotations

import numpy as np
from numba import njit

from hybrid.compiled.limits import Limits
from hybrid.compiled.location import guard_rate
from hybrid.filters.compiled.matrices import add, product, sandwich, times
from hybrid.filters.compiled.path import being_left, entered
from hybrid.filters.compiled.slopes import (
    guard_by_time,
    guard_gradient,
    reset_by_time,
    reset_jacobian,
)
from hybrid.filters.compiled.tables import FilterTables
from hybrid.saltation import JUMPED


@njit(cache=True, error_model="numpy")
def set_off(f: FilterTables, mode, t, x, u, limits: Limits):
    """Transition that a reset to x sets off at once: its guard is jumped over; -1 if none is."""
    s = f.system
    e = entered(s, mode, t, x, u, being_left(s, mode, t, x, u, limits), limits)
    if e < 0:
        return -1
    rate = guard_rate(s, mode, e, t, x, u)
    return e if s.guards[e](t, x, u) < -JUMPED * max(1.0, abs(rate)) else -1


@njit(cache=True, error_model="numpy")
def jump(f: FilterTables, e, t, x, u, salted, met, limits: Limits):
    """Transition e from the state x, and what it sets off, as one (``hybrid.chains``).

    With ``met`` the flow led to the guard, so that deep inside it is jumped over; without, a
    measurement did, and Xi is that of the state as it is (4.18). Returns (mode, state after,
    Xi or D_x R, noise of the resets, transitions, whether transverse).
    """
    s, first = f.system, e
    D, D_t, after = np.eye(len(x)), np.zeros(len(x)), x
    noise, count = np.zeros((len(x), len(x))), 0
    while e >= 0 and count < limits.max_events:
        D_xR = reset_jacobian(f, e, t, after, u)
        D, D_t = product(D_xR, D), times(D_xR, D_t) + reset_by_time(f, e, t, after, u)
        noise = sandwich(D_xR, noise)
        add(noise, f.W_R[e], 1.0)
        after, mode, count = s.resets[e](t, after.copy(), u), s.target[e], count + 1
        e = set_off(f, mode, t, after, u, limits)
    gradient, F_before = guard_gradient(f, first, t, x, u), s.flows[s.source[first]](t, x, u)
    rate = guard_by_time(f, first, t, x, u)
    for i in range(len(x)):
        rate += gradient[i] * F_before[i]
    transverse = rate < -limits.minimum_rate
    if met and s.guards[first](t, x, u) < -JUMPED * max(1.0, abs(rate)):
        transverse = False
    if salted and transverse:
        missed = s.flows[mode](t, after, u) - times(D, F_before) - D_t
        for i in range(D.shape[0]):
            for j in range(len(x)):
                D[i, j] += missed[i] * gradient[j] / rate
    return mode, after, D, noise, count, transverse
