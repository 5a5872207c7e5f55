"""Kernels of derivatives at one point: of guards, resets and measurements."""

# ruff: noqa: N806 (the letters are the thesis's)

from __future__ import annotations

import numpy as np
from numba import njit

from hybrid.compiled.location import STEP
from hybrid.filters.compiled.tables import FilterTables


@njit(cache=True, error_model="numpy")
def guard_gradient(f: FilterTables, e, t, x, u):
    """D_x g (n,) of a transition's guard."""
    if f.given[0]:
        return f.guard_states[e](t, x, u)
    gradient, moved = np.empty(len(x)), x.copy()
    for i in range(len(x)):
        ahead, behind = stepped(x[i])
        moved[i] = ahead
        high = f.system.guards[e](t, moved, u)
        moved[i] = behind
        gradient[i] = (high - f.system.guards[e](t, moved, u)) / (ahead - behind)
        moved[i] = x[i]
    return gradient


@njit(cache=True, error_model="numpy")
def reset_jacobian(f: FilterTables, e, t, x, u):
    """D_x R (n_target, n) of a transition."""
    if f.given[1]:
        return f.reset_states[e](t, x, u)
    return differences(f.system.resets[e], t, x, u)


@njit(cache=True, error_model="numpy")
def measurement_jacobian(f: FilterTables, mode, t, x, u):
    """C = D_x h (p, n), (4.23)."""
    if f.given[2]:
        return f.measurement_states[mode](t, x, u)
    return differences(f.measurements[mode], t, x, u)


@njit(cache=True, error_model="numpy")
def differences(function, t, x, u):
    """Derivative (k, n) of a function's value (k,) by the state, by central differences."""
    moved = x.copy()
    J = np.empty((len(function(t, moved, u)), len(x)))
    for i in range(len(x)):
        ahead, behind = stepped(x[i])
        moved = x.copy()  # the function may write on it, or return it
        moved[i] = ahead
        high = function(t, moved, u)
        moved = x.copy()
        moved[i] = behind
        low = function(t, moved, u)
        for k in range(J.shape[0]):
            J[k, i] = (high[k] - low[k]) / (ahead - behind)
    return J


@njit(cache=True, error_model="numpy")
def stepped(value):
    """The two ends of a central difference about a number."""
    h = STEP * max(1.0, abs(value))
    return value + h, value - h


@njit(cache=True, error_model="numpy")
def guard_by_time(f: FilterTables, e, t, x, u):
    """D_t g."""
    if not f.timed[e]:
        return 0.0
    ahead, behind = stepped(t)
    guard = f.system.guards[e]
    return (guard(ahead, x, u) - guard(behind, x, u)) / (ahead - behind)


@njit(cache=True, error_model="numpy")
def reset_by_time(f: FilterTables, e, t, x, u):
    """D_t R (n_target,)."""
    if not f.timed[e]:
        return np.zeros(f.system.dims[f.system.target[e]])
    ahead, behind = stepped(t)
    reset = f.system.resets[e]
    return (reset(ahead, x.copy(), u) - reset(behind, x.copy(), u)) / (ahead - behind)
