"""Kernels of Algorithm 1: one prediction, one correction.

``np.bool_(True)`` where ``True`` would do: for an argument that stands there as a literal, Numba
compiles the function once more, with all that it calls.
"""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

import numpy as np
from numba import njit

from hybrid.compiled.limits import NOT_FINITE, OK, ZENO, Limits
from hybrid.compiled.piece import jacobians
from hybrid.compiled.runge_kutta import finite
from hybrid.filters.compiled.jump import jump
from hybrid.filters.compiled.matrices import add, cholesky, product, sandwich, solve, times
from hybrid.filters.compiled.path import being_left, entered, to_event
from hybrid.filters.compiled.slopes import measurement_jacobian
from hybrid.filters.compiled.tables import FilterTables


@njit(cache=True, error_model="numpy")
def predict(f: FilterTables, mode, t, x, Sigma, u, end, salted, limits: Limits):
    """Lines 2-12: (4.8) along the flow, (4.14) at transitions. (mode, x, Sigma, status)."""
    s, seen = f.system, np.zeros(len(f.system.dims), dtype=np.bool_)
    waiting = being_left(s, mode, -1, t, x, u, limits)
    waited = np.any(waiting)
    for _ in range(limits.max_events + 1):
        start, before = t, x
        x, t, e, status = to_event(s, mode, t, x, u, end, waiting, limits)
        if t > start:
            Sigma = sandwich(flow_jacobian(f, mode, start, before, u, t - start, limits), Sigma)
            add(Sigma, f.Q[mode], (t - start) ** f.power[mode])
        if status != OK:
            add(Sigma, f.Q[mode], (end - t) ** f.power[mode])
            return mode, x, Sigma, status
        if e < 0:
            if waited:
                return (*through_guards(f, mode, t, x, Sigma, u, salted, limits), OK)
            return mode, x, Sigma, OK
        mode, x, D, noise, came_from, _ = jump(f, e, t, x, u, salted, np.bool_(True), seen, limits)
        waiting |= being_left(s, mode, came_from, t, x, u, limits)
        Sigma = sandwich(D, Sigma)
        add(Sigma, noise, 1.0)
    return mode, x, Sigma, ZENO


@njit(cache=True, error_model="numpy")
def flow_jacobian(f: FilterTables, mode, t, x, u, h, limits: Limits):
    """A (n, n) of a mode's flow over h [s], in closed form where there is one."""
    if f.given[3]:
        return f.solutions[mode](t, x, u, h)[0]
    return jacobians(f.derivatives, mode, t, x, u, h, limits)[0]


@njit(cache=True, error_model="numpy")
def correct(f: FilterTables, mode, t, x, Sigma, u, y):
    """Lines 13-15 with Joseph's form of (4.11): (x, Sigma, whether there was a gain)."""
    C, V = measurement_jacobian(f, mode, t, x, u), f.V[mode]
    residual = y - f.measurements[mode](t, x, u)
    CSigma = product(C, Sigma)
    S = sandwich(C, Sigma)
    add(S, V, 1.0)
    L, definite = cholesky(S)
    if not (definite and finite(residual)):
        return x, Sigma, False
    K = solve(L, CSigma).T.copy()  # (4.9)
    keep = np.eye(len(x))
    add(keep, product(K, C), -1.0)
    after = sandwich(keep, Sigma)
    add(after, sandwich(K, V), 1.0)
    return x + times(K, residual), after, True


@njit(cache=True, error_model="numpy")
def through_guards(f: FilterTables, mode, t, x, Sigma, u, salted, limits: Limits):
    """Lines 16-20, (4.17) and (4.18), until no guard set holds the mean, or a mode comes back."""
    seen, again = np.zeros(len(f.system.dims), dtype=np.bool_), False
    seen[mode] = True
    while not again:
        e = entered(f.system, mode, t, x, u, limits)
        if e < 0:
            break
        mode, x, D, noise, _, again = jump(f, e, t, x, u, salted, np.bool_(False), seen, limits)
        Sigma = sandwich(D, Sigma)
        add(Sigma, noise, 1.0)
    return mode, x, Sigma


@njit(cache=True, error_model="numpy")
def step(f: FilterTables, mode, t, x, Sigma, u, y, end, salted, limits: Limits):
    """Algorithm 1: (mode, x, Sigma, status). What is not finite is not believed."""
    before, before_x, before_Sigma = mode, x, Sigma
    mode, x, Sigma, status = predict(f, mode, t, x, Sigma, u, end, salted, limits)
    x, Sigma, corrected = correct(f, mode, end, x, Sigma, u, y)
    if corrected:
        mode, x, Sigma = through_guards(f, mode, end, x, Sigma, u, salted, limits)
    if not (finite(x) and finite(Sigma.ravel())):
        return before, before_x, before_Sigma, NOT_FINITE
    return mode, x, Sigma, status if corrected else NOT_FINITE
