"""Kernels that call a model's functions, and take derivatives by differences where none is given.

On a manifold a mode's Jacobians are of tangent vectors: a map with the Jacobian M from x to y has
D(y) M E(x) there, with E and D of ``saltation.filters.manifolds``. In R^n both are left out.
"""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

import numpy as np

from saltation.compiled.calls import STEP, called, guard, put, reset
from saltation.compiled.tables import ABSENT, COMPILED
from saltation.filters.kernels.matrices import product, sandwich, times
from saltation.filters.tables import (
    GUARD_STATE,
    MEASUREMENT,
    MEASUREMENT_STATE,
    MINUS,
    PART,
    PLUS,
    RESET_STATE,
    SLOPE,
)
from saltation.kernels import kernel


@kernel
def measurement(f, mode, t, x, u):
    """h (p,) of a mode."""
    slot = f.slots[MEASUREMENT, mode]
    if slot == COMPILED:
        return f.measurements[mode](t, x.copy(), u)
    return called(f, slot, t, x, u, f.noise.size[mode])


@kernel
def measurement_jacobian(f, mode, t, x, u):
    """C = D_x h (p, k), (4.23)."""
    C = jacobian(f, MEASUREMENT_STATE, mode, t, x, u, f.noise.size[mode])
    return product(C, basis(f, mode, x)) if on_manifold(f, mode) else C


@kernel
def guard_gradient(f, e, t, x, u):
    """D_x g (n,) of a transition's guard."""
    return jacobian(f, GUARD_STATE, e, t, x, u, 1)[0]


@kernel
def tangent_gradient(f, e, t, x, u):
    """D_x g (k,) of a transition's guard, of tangent vectors."""
    gradient, mode = guard_gradient(f, e, t, x, u), f.system.source[e]
    return times(basis(f, mode, x).T, gradient) if on_manifold(f, mode) else gradient


@kernel
def reset_jacobian(f, e, t, x, u):
    """D_x R (n_target, n) of a transition."""
    return jacobian(f, RESET_STATE, e, t, x, u, f.system.dims[f.system.target[e]])


@kernel
def jacobian(f, row, i, t, x, u, size):
    """Derivative (size, n) by the state of a measurement, guard or reset.

    By central differences where it was not given.
    """
    slot, J = f.slots[row, i], np.empty((size, len(x)))
    if slot >= 0:
        return called(f, slot, t, x, u, J.size).reshape(J.shape)
    if slot == COMPILED and row == GUARD_STATE:
        return f.guard_states[i](t, x, u).reshape(J.shape)
    if slot == COMPILED and row == RESET_STATE:
        return f.reset_states[i](t, x, u)
    if slot == COMPILED:
        return f.measurement_states[i](t, x, u)
    argument = x.copy()
    for j in range(len(x)):
        ahead, behind = _ends(x[j])
        argument[j] = ahead
        high = _value(f, row, i, t, argument, u)
        argument[j] = behind
        low = _value(f, row, i, t, argument, u)
        argument[j] = x[j]
        for k in range(size):
            J[k, j] = (high[k] - low[k]) / (ahead - behind)
    return J


@kernel
def _value(f, row, i, t, x, u):
    if row == MEASUREMENT_STATE:
        return measurement(f, i, t, x, u)
    if row == RESET_STATE:
        return reset(f.system, i, t, x, u)
    return np.array([guard(f.system, i, t, x, u)])


@kernel
def _ends(value):
    """The two ends of a central difference about a number."""
    h = STEP * max(1.0, abs(value))
    return value + h, value - h


@kernel
def derivatives_by_time(f, e, t, x, u):
    """D_t g, and D_t R (n_target,), of a transition."""
    s = f.system
    if not f.time_varying[e]:
        return 0.0, np.zeros(s.dims[s.target[e]])
    ahead, behind = _ends(t)
    h = ahead - behind
    g = (guard(s, e, ahead, x, u) - guard(s, e, behind, x, u)) / h
    return g, (reset(s, e, ahead, x, u) - reset(s, e, behind, x, u)) / h


@kernel
def on_manifold(f, mode):
    """Whether a mode's states live on a manifold that is not R^n."""
    return f.slots[PLUS, mode] != ABSENT


@kernel
def of_manifold(f, row, mode, x, d, size):
    """The first numbers (size,) that a manifold's callback gives of x and d."""
    put(f.x, x)
    put(f.x[len(x) :], d)
    f.call(f.slots[row, mode], 0.0)
    return f.out[:size].copy()


@kernel
def retract(f, mode, x, d):
    """The state (n,) that lies a tangent vector d (k,) from x (n,)."""
    return of_manifold(f, PLUS, mode, x, d, len(x)) if on_manifold(f, mode) else x + d


@kernel
def difference(f, mode, y, x):
    """The tangent vector (k,) from x to y (n,)."""
    return of_manifold(f, MINUS, mode, y, x, f.tangent[mode]) if on_manifold(f, mode) else y - x


@kernel
def project(f, mode, x):
    """The state (n,) on the manifold at x (n,), which a flow has left by its rounding."""
    return retract(f, mode, x, np.zeros(f.tangent[mode])) if on_manifold(f, mode) else x


@kernel
def retraction_slope(f, mode, x, d):
    """Derivative (n, k) of ``retract`` by d, on a manifold."""
    n, k = len(x), f.tangent[mode]
    return of_manifold(f, SLOPE, mode, x, d, n * k).reshape((n, k))


@kernel
def basis(f, mode, x):
    """E(x) (n, k) of a mode on a manifold."""
    return retraction_slope(f, mode, x, np.zeros(f.tangent[mode]))


@kernel
def part(f, mode, y):
    """D(y) (k, n) of a mode on a manifold."""
    n, k = len(y), f.tangent[mode]
    return of_manifold(f, PART, mode, y, y[:0], n * k).reshape((k, n))


@kernel
def tangent_map(f, M, mode, x, target, y):
    """D(y) M E(x) (k_target, k) of a Jacobian M (n_target, n) from x to y."""
    if on_manifold(f, mode):
        M = product(M, basis(f, mode, x))
    return product(part(f, target, y), M) if on_manifold(f, target) else M


@kernel
def transport_covariance(f, mode, x, d, Sigma):
    """Covariance (k, k) of tangent vectors at plus(x, d), from one of plus(x, d + e) by e."""
    if not on_manifold(f, mode):
        return Sigma
    slope = retraction_slope(f, mode, x, d)
    return sandwich(product(part(f, mode, retract(f, mode, x, d)), slope), Sigma)
