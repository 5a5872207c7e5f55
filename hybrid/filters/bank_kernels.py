"""Kernels of the bank of salted filters in R^n: one Gaussian and its weight for each mode.

``np.bool_(True)`` instead of ``True``: see ``compiled.kalman``.
"""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hybrid.compiled.limits import OK, Limits
from hybrid.compiled.location import guard_rate
from hybrid.compiled.piece import jacobians
from hybrid.compiled.runge_kutta import finite, flow_for
from hybrid.filters.branches import NEWTON
from hybrid.filters.compiled.jump import jump
from hybrid.filters.compiled.kalman import correct, predict, through_guards
from hybrid.filters.compiled.matrices import add, cholesky, sandwich, solve
from hybrid.filters.compiled.path import entered
from hybrid.filters.compiled.slopes import guard_gradient, measurement_jacobian
from hybrid.filters.compiled.tables import FilterTables
from hybrid.filters.truncation import sides


class Mixture(NamedTuple):
    """At most one Gaussian a mode."""

    weights: NDArray[np.float64]  # (modes,), zero where there is none
    means: NDArray[np.float64]  # (modes, n)
    Sigmas: NDArray[np.float64]  # (modes, n, n)

    @staticmethod
    def empty(modes: int, n: int) -> Mixture:
        """Without any Gaussian."""
        return Mixture(np.zeros(modes), np.zeros((modes, n)), np.zeros((modes, n, n)))


@njit(cache=True, error_model="numpy")
def absorb(mixture: Mixture, mode, weight, x, Sigma):
    """Merge a Gaussian with that of its mode, as one with the mean and covariance of both."""
    n, before = len(x), mixture.weights[mode]
    share = weight / (before + weight) if before > 0.0 else 1.0
    mixture.weights[mode] = before + weight
    mean, S = mixture.means[mode], mixture.Sigmas[mode]
    apart = x - mean[:n] if before > 0.0 else np.zeros(n)
    for i in range(n):
        for j in range(n):
            old = (1.0 - share) * S[i, j] if before > 0.0 else 0.0
            S[i, j] = old + share * Sigma[i, j] + share * (1.0 - share) * apart[i] * apart[j]
    for i in range(n):
        mean[i] = mean[i] + share * apart[i] if before > 0.0 else x[i]


@njit(cache=True, error_model="numpy")
def clear(mixture: Mixture):
    """Leave no Gaussian."""
    for i in range(len(mixture.weights)):
        mixture.weights[i] = 0.0


@njit(cache=True, error_model="numpy")
def scale(mixture: Mixture, dropped):
    """Drop Gaussians of a weight up to ``dropped``, and scale the others to the sum 1."""
    total, largest = 0.0, 0.0
    for weight in mixture.weights:
        largest = max(largest, weight)
    for i in range(len(mixture.weights)):
        if mixture.weights[i] <= dropped and mixture.weights[i] < largest:
            mixture.weights[i] = 0.0
        total += mixture.weights[i]
    for i in range(len(mixture.weights)):
        mixture.weights[i] /= total


@njit(cache=True, error_model="numpy")
def cut(f: FilterTables, e, mode, t, x, Sigma, u, certain, limits: Limits):
    """(whether guard e splits the Gaussian, its side in front, its side behind)."""
    D = guard_gradient(f, e, t, x, u)
    over, under = sides(f.system.guards[e](t, x, u), D, Sigma)
    falls = guard_rate(f.system, mode, e, t, x, u) < -limits.minimum_rate
    return falls and certain < under[0] < 1.0 - certain, over, under


@njit(cache=True, error_model="numpy")
def when_crossed(f: FilterTables, e, mode, end, x, u, limits: Limits):
    """Time [s] and state on guard e from which a state behind it comes."""
    t, at = end, x
    for _ in range(NEWTON):
        g = f.system.guards[e](t, at, u)
        back = -g / guard_rate(f.system, mode, e, t, at, u)
        if not np.isfinite(back) or t + back > end:
            break
        at = flow_for(f.system, mode, t, at, u, back, limits)
        t += back
        if abs(back) < limits.event_time * max(1.0, abs(t)):
            return t, at
    return end, x


@njit(cache=True, error_model="numpy")
def through(f: FilterTables, quiet: FilterTables, e, mode, end, x, Sigma, u, h, limits: Limits):
    """A Gaussian behind a guard led back, through it and on: (mode, x, Sigma, whether it went)."""
    t, at = when_crossed(f, e, mode, end, x, u, limits)
    if end - t > 2.0 * h:
        t, at = end, x
    if t < end:
        A, _ = jacobians(f.derivatives, mode, end, x, u, t - end, limits)
        Sigma = sandwich(A, Sigma)
    seen = np.zeros(len(f.system.dims), dtype=np.bool_)
    target, at, D, noise, _, _ = jump(f, e, t, at, u, np.bool_(True), np.bool_(True), seen, limits)
    Sigma = sandwich(D, Sigma)
    add(Sigma, noise, 1.0)
    target, at, Sigma, status = predict(quiet, target, t, at, Sigma, u, end, np.bool_(True), limits)
    return target, at, Sigma, status == OK and finite(at) and finite(Sigma.ravel())


@njit(cache=True, error_model="numpy")
def branch(f, quiet, mode, weight, t, x, Sigma, u, end, certain, limits, out: Mixture):
    """Predict a Gaussian, in parts where a guard splits it: into ``out``. Its status."""
    ahead = flow_for(f.system, mode, t, x, u, end - t, limits)
    A, _ = jacobians(f.derivatives, mode, t, x, u, end - t, limits)
    Sigma_ahead, left = sandwich(A, Sigma), weight
    add(Sigma_ahead, f.Q[mode], (end - t) ** f.power[mode])
    if finite(ahead) and finite(Sigma_ahead.ravel()):
        for e in range(len(f.system.source)):
            if f.system.source[e] != mode:
                continue
            split, over, under = cut(f, e, mode, end, ahead, Sigma_ahead, u, certain, limits)
            if not split:
                continue
            target, y, S, went = through(
                f, quiet, e, mode, end, ahead + under[1], under[2], u, end - t, limits
            )
            if went:
                absorb(out, target, left * under[0], y, S)
                ahead, Sigma_ahead, left = ahead + over[1], over[2], left * over[0]
    if left < weight:
        absorb(out, mode, left, ahead, Sigma_ahead)
        return OK
    mode, x, Sigma, status = predict(f, mode, t, x, Sigma, u, end, np.bool_(True), limits)
    absorb(out, mode, weight, x, Sigma)
    return status


@njit(cache=True, error_model="numpy")
def log_likelihood(f: FilterTables, mode, t, x, Sigma, u, y):
    """Of a measurement, before it corrects the Gaussian; minus infinity where it has none."""
    C = measurement_jacobian(f, mode, t, x, u)
    S = sandwich(C, Sigma)
    add(S, f.V[mode], 1.0)
    L, definite = cholesky(S)
    residual = (y - f.measurements[mode](t, x, u)).reshape(-1, 1)
    if not definite or not finite(residual.ravel()):
        return -np.inf
    total, weighed = 0.0, solve(L, residual)
    for i in range(len(y)):
        total += residual[i, 0] * weighed[i, 0] + np.log(2.0 * np.pi) + 2.0 * np.log(L[i, i])
    return -0.5 * total


@njit(cache=True, error_model="numpy")
def settle(f: FilterTables, mode, t, x, Sigma, u, certain, limits: Limits):
    """Transitions after a correction; none while a guard splits the Gaussian."""
    if entered(f.system, mode, t, x, u, limits) < 0:
        return mode, x, Sigma
    for e in range(len(f.system.source)):
        if f.system.source[e] == mode and cut(f, e, mode, t, x, Sigma, u, certain, limits)[0]:
            return mode, x, Sigma
    return through_guards(f, mode, t, x, Sigma, u, np.bool_(True), limits)


@njit(cache=True, error_model="numpy")
def weigh_and_correct(f, mixture: Mixture, t, u, y, certain, limits, out: Mixture):
    """Correct each Gaussian with y (p,) into ``out``; False, with nothing done, if none can be."""
    modes = len(mixture.weights)
    logs, best = np.full(modes, -np.inf), -np.inf
    for mode in range(modes):
        if mixture.weights[mode] > 0.0:
            n = f.system.dims[mode]
            x, Sigma = mixture.means[mode, :n].copy(), mixture.Sigmas[mode, :n, :n].copy()
            logs[mode] = log_likelihood(f, mode, t, x, Sigma, u, y)
            logs[mode] += np.log(mixture.weights[mode])
            best = max(best, logs[mode])
    if not np.isfinite(best):
        return False
    clear(out)
    for mode in range(modes):
        if logs[mode] > -np.inf:
            n = f.system.dims[mode]
            x, Sigma = mixture.means[mode, :n].copy(), mixture.Sigmas[mode, :n, :n].copy()
            x, Sigma, _ = correct(f, mode, t, x, Sigma, u, y)
            target, x, Sigma = settle(f, mode, t, x, Sigma, u, certain, limits)
            absorb(out, target, np.exp(logs[mode] - best), x, Sigma)
    return True
