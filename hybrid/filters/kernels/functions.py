"""Kernels that call a model's functions, and take derivatives by differences where none is given.

On a manifold a mode's Jacobians are of tangent vectors: see ``hybrid.filters.tangent``.
"""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

import numpy as np
from numba import njit

from hybrid.compiled.calls import STEP, evaluate, guard, put, reset
from hybrid.compiled.tables import ABSENT, COMPILED
from hybrid.filters.kernels.matrices import product, sandwich
from hybrid.filters.tables import (
    BASIS,
    GUARD_STATE,
    MEASUREMENT,
    MEASUREMENT_STATE,
    MINUS,
    PART,
    PLUS,
    RESET_STATE,
    TRANSPORT,
    KernelTables,
)


@njit(cache=True, error_model="numpy")
def callback_vector(f: KernelTables, row, i, t, x, u, size):
    """Value (size,) of a callback."""
    evaluate(f, f.slots[row, i], t, x, u)
    return f.out[:size].copy()


@njit(cache=True, error_model="numpy")
def callback_matrix(f: KernelTables, row, i, t, x, u, shape):
    """Value of a callback that gives a matrix."""
    evaluate(f, f.slots[row, i], t, x, u)
    return f.out[: shape[0] * shape[1]].copy().reshape(shape)


@njit(cache=True, error_model="numpy")
def measurement(f: KernelTables, mode, t, x, u):
    """h (p,) of a mode."""
    if f.slots[MEASUREMENT, mode] == COMPILED:
        return f.measurements[mode](t, x.copy(), u)
    return callback_vector(f, MEASUREMENT, mode, t, x, u, f.noise.size[mode])


@njit(cache=True, error_model="numpy")
def measurement_jacobian(f: KernelTables, mode, t, x, u):
    """C = D_x h (p, k), (4.23)."""
    slot = f.slots[MEASUREMENT_STATE, mode]
    if slot == COMPILED:
        C = f.measurement_states[mode](t, x, u)
    elif slot == ABSENT:
        C = differences(f, MEASUREMENT, mode, t, x, u)
    else:
        shape = (f.noise.size[mode], len(x))
        C = callback_matrix(f, MEASUREMENT_STATE, mode, t, x, u, shape)
    return C if f.slots[BASIS, mode] == ABSENT else product(C, basis(f, mode, x))


@njit(cache=True, error_model="numpy")
def guard_gradient(f: KernelTables, e, t, x, u):
    """D_x g (n,) of a transition's guard."""
    slot = f.slots[GUARD_STATE, e]
    if slot == COMPILED:
        return f.guard_states[e](t, x, u)
    if slot == ABSENT:
        return differences(f, GUARD_STATE, e, t, x, u)[0].copy()
    return callback_vector(f, GUARD_STATE, e, t, x, u, len(x))


@njit(cache=True, error_model="numpy")
def reset_jacobian(f: KernelTables, e, t, x, u):
    """D_x R (n_target, n) of a transition."""
    slot = f.slots[RESET_STATE, e]
    if slot == COMPILED:
        return f.reset_states[e](t, x, u)
    if slot == ABSENT:
        return differences(f, RESET_STATE, e, t, x, u)
    shape = (f.system.dims[f.system.target[e]], len(x))
    return callback_matrix(f, RESET_STATE, e, t, x, u, shape)


@njit(cache=True, error_model="numpy")
def differences(f: KernelTables, row, i, t, x, u):
    """Derivative by the state of a measurement, guard or reset, by central differences."""
    J = np.empty((len(_value(f, row, i, t, x, u)), len(x)))
    moved = x.copy()
    for j in range(len(x)):
        ahead, behind = _ends(x[j])
        moved[j] = ahead
        high = _value(f, row, i, t, moved, u)
        moved[j] = behind
        low = _value(f, row, i, t, moved, u)
        moved[j] = x[j]
        for k in range(J.shape[0]):
            J[k, j] = (high[k] - low[k]) / (ahead - behind)
    return J


@njit(cache=True, error_model="numpy")
def _value(f: KernelTables, row, i, t, x, u):
    if row == MEASUREMENT:
        return measurement(f, i, t, x, u)
    if row == RESET_STATE:
        return reset(f.system, i, t, x, u)
    return np.array([guard(f.system, i, t, x, u)])


@njit(cache=True, error_model="numpy")
def _ends(value):
    """The two ends of a central difference about a number."""
    h = STEP * max(1.0, abs(value))
    return value + h, value - h


@njit(cache=True, error_model="numpy")
def guard_by_time(f: KernelTables, e, t, x, u):
    """D_t g."""
    if not f.timed[e]:
        return 0.0
    ahead, behind = _ends(t)
    change = guard(f.system, e, ahead, x, u) - guard(f.system, e, behind, x, u)
    return change / (ahead - behind)


@njit(cache=True, error_model="numpy")
def reset_by_time(f: KernelTables, e, t, x, u):
    """D_t R (n_target,)."""
    if not f.timed[e]:
        return np.zeros(f.system.dims[f.system.target[e]])
    ahead, behind = _ends(t)
    change = reset(f.system, e, ahead, x, u) - reset(f.system, e, behind, x, u)
    return change / (ahead - behind)


@njit(cache=True, error_model="numpy")
def concatenate(x, d):
    """[x, d], as callbacks of manifolds take them."""
    both = np.empty(len(x) + len(d))
    put(both, x)
    put(both[len(x) :], d)
    return both


@njit(cache=True, error_model="numpy")
def retract(f: KernelTables, mode, x, d):
    """The state (n,) that lies a tangent vector d (k,) from x (n,)."""
    if f.slots[PLUS, mode] == ABSENT:
        return x + d
    return callback_vector(f, PLUS, mode, 0.0, concatenate(x, d), np.zeros(0), len(x))


@njit(cache=True, error_model="numpy")
def difference(f: KernelTables, mode, y, x):
    """The tangent vector (k,) from x to y (n,)."""
    if f.slots[MINUS, mode] == ABSENT:
        return y - x
    return callback_vector(f, MINUS, mode, 0.0, concatenate(y, x), np.zeros(0), f.tangent[mode])


@njit(cache=True, error_model="numpy")
def project(f: KernelTables, mode, x):
    """The state (n,) on the manifold at x (n,), which a flow has left by its rounding."""
    return x if f.slots[PLUS, mode] == ABSENT else retract(f, mode, x, np.zeros(f.tangent[mode]))


@njit(cache=True, error_model="numpy")
def basis(f: KernelTables, mode, x):
    """E(x) (n, k) of a mode on a manifold."""
    return callback_matrix(f, BASIS, mode, 0.0, x, np.zeros(0), (len(x), f.tangent[mode]))


@njit(cache=True, error_model="numpy")
def part(f: KernelTables, mode, y):
    """D(y) (k, n) of a mode on a manifold."""
    return callback_matrix(f, PART, mode, 0.0, y, np.zeros(0), (f.tangent[mode], len(y)))


@njit(cache=True, error_model="numpy")
def tangent_map(f: KernelTables, M, mode, x, target, y):
    """D(y) M E(x) (k_target, k) of a Jacobian M (n_target, n) from x to y."""
    if f.slots[BASIS, mode] != ABSENT:
        M = product(M, basis(f, mode, x))
    return M if f.slots[PART, target] == ABSENT else product(part(f, target, y), M)


@njit(cache=True, error_model="numpy")
def transport_covariance(f: KernelTables, mode, x, d, Sigma):
    """Covariance (k, k) of tangent vectors at plus(x, d), from one of plus(x, d + e) by e."""
    if f.slots[TRANSPORT, mode] == ABSENT:
        return Sigma
    shape = (f.tangent[mode], f.tangent[mode])
    J = callback_matrix(f, TRANSPORT, mode, 0.0, concatenate(x, d), np.zeros(0), shape)
    return sandwich(J, Sigma)
