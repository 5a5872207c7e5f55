"""Kernels of particles: moved through hybrid transitions, weighed, resampled."""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hybrid.compiled.calls import put
from hybrid.compiled.limits import OK
from hybrid.filters.draws import normals, stirred, uniform
from hybrid.filters.kernels.functions import measurement
from hybrid.filters.kernels.kalman import nis
from hybrid.filters.kernels.matrices import cholesky
from hybrid.filters.kernels.noisy_flow import Draws, noisy_step
from hybrid.filters.tables import KernelTables

VANISHED = -745.0  # the exponential of less is zero


class Cloud(NamedTuple):
    """N particles; modes by index, states padded with zeros."""

    modes: NDArray[np.int64]  # (N,)
    states: NDArray[np.float64]  # (N, n)
    log_weights: NDArray[np.float64]  # (N,), of weights with the sum 1
    events: NDArray[np.int64]  # (N,) in the last step
    codes: NDArray[np.int64]  # (N,) how the last step ended

    @staticmethod
    def empty(count: int, n: int) -> Cloud:
        """Room for ``count`` particles of the same weight."""
        zero = np.zeros(count, dtype=np.int64)
        weights = np.full(count, -np.log(count))
        return Cloud(zero, np.zeros((count, n)), weights, zero.copy(), zero.copy())

    def copied(self) -> Cloud:
        """The same particles again."""
        return Cloud(
            self.modes.copy(), self.states.copy(), self.log_weights.copy(), self.events.copy(),
            self.codes.copy(),
        )  # fmt: skip


@njit(cache=True, error_model="numpy")
def draw_cloud(cloud, mode, mean, S, key):
    """Particles of one weight from a Gaussian with the covariance S S' in a mode."""
    z = np.empty(len(mean))
    for b in range(len(cloud.modes)):
        normals(stirred(key, b), z)
        cloud.modes[b], cloud.log_weights[b] = mode, -np.log(len(cloud.modes))
        for i in range(len(mean)):
            cloud.states[b, i] = mean[i]
            for j in range(len(mean)):
                cloud.states[b, i] += S[i, j] * z[j]


@njit(cache=True, error_model="numpy", nogil=True)
def move_all(f: KernelTables, t, u, end, key, part, cloud):
    """Move a part of the particles, every n-th from a first on (first, n), to ``end`` [s]."""
    none = np.empty((0, cloud.states.shape[1]))
    for b in range(part[0], len(cloud.modes), part[1]):
        x = cloud.states[b, : f.system.dims[cloud.modes[b]]].copy()
        draws = Draws(stirred(key, b), none, none)
        mode, x, cloud.events[b], cloud.codes[b] = noisy_step(
            f, cloud.modes[b], t, x, u, end, draws
        )
        cloud.modes[b] = mode
        for i in range(cloud.states.shape[1]):
            cloud.states[b, i] = x[i] if i < len(x) else 0.0


@njit(cache=True, error_model="numpy", nogil=True)
def weigh(f: KernelTables, t, u, y, cloud):
    """Multiply the weights by the likelihoods of y (p,).

    Returns whether they do not all vanish (else nothing is changed), and the squared innovation.
    """
    count, p, modes = len(cloud.modes), len(y), len(f.noise.size)
    exponents, peaks, weights = np.full(count, -np.inf), np.zeros(count), np.zeros(count)
    expected, factors, whole = np.zeros((count, p)), np.zeros((modes, p, p)), np.zeros(modes)
    for mode in range(modes):
        if f.noise.size[mode] == p:
            factors[mode] = cholesky(f.noise.V[mode, :p, :p].copy())[0]
            whole[mode] = -0.5 * p * np.log(2.0 * np.pi)
            for i in range(p):
                whole[mode] -= np.log(factors[mode, i, i])
    for b in range(count):
        mode = cloud.modes[b]
        if f.noise.size[mode] == p:
            x = cloud.states[b, : f.system.dims[mode]].copy()
            expected[b], peaks[b] = measurement(f, mode, t, x, u), whole[mode]
            exponents[b] = exponent(factors[mode], y, expected[b])
            weights[b] = np.exp(cloud.log_weights[b])
    squared = nis(weights, cloud.modes, expected, f.noise.V, y)
    return reweigh(cloud, exponents, peaks), squared


@njit(cache=True, error_model="numpy")
def exponent(L, y, expected):
    """-|L^-1 (y - h)|^2 / 2; minus infinity where it is not finite."""
    z, total = np.empty(len(y)), 0.0
    for i in range(len(y)):
        z[i] = y[i] - expected[i]
        for j in range(i):
            z[i] -= L[i, j] * z[j]
        z[i] /= L[i, i]
        total += z[i] * z[i]
    return -0.5 * total if np.isfinite(total) else -np.inf


@njit(cache=True, error_model="numpy")
def reweigh(cloud, exponents, peaks):
    """Multiply the weights by exp(exponent + peak) (N,); False, and as before, if all vanish."""
    best = -np.inf
    for b in range(len(exponents)):
        if cloud.log_weights[b] > -np.inf:
            best = max(best, exponents[b])
    if not best > VANISHED:
        return False
    for b in range(len(exponents)):
        cloud.log_weights[b] += exponents[b] + peaks[b]
    return normalise(cloud.log_weights)


@njit(cache=True, error_model="numpy")
def normalise(log_weights):
    """Scale the weights to the sum 1; False, and nothing done, where they are all zero."""
    largest, total = -np.inf, 0.0
    for value in log_weights:
        largest = max(largest, value)
    if not np.isfinite(largest):
        return False
    for value in log_weights:
        total += np.exp(value - largest)
    shift = largest + np.log(total)
    for b in range(len(log_weights)):
        log_weights[b] -= shift
    return True


@njit(cache=True, error_model="numpy")
def drop_failed(cloud):
    """Leave out particles that could not be followed; False, with nothing done, if none could."""
    left = False
    for b in range(len(cloud.codes)):
        left = left or (cloud.codes[b] == OK and cloud.log_weights[b] > -np.inf)
    if not left:
        return False
    for b in range(len(cloud.codes)):
        if cloud.codes[b] != OK:
            cloud.log_weights[b] = -np.inf
            for i in range(cloud.states.shape[1]):  # it may not be finite
                cloud.states[b, i] = 0.0
    return normalise(cloud.log_weights)


@njit(cache=True, error_model="numpy")
def effective_size(log_weights):
    """1 / sum of the squared weights: how many particles of one weight were as good."""
    total = 0.0
    for value in log_weights:
        total += np.exp(2.0 * value)
    return 1.0 / total


@njit(cache=True, error_model="numpy", nogil=True)
def resample(cloud, key):
    """Draw the particles anew by their weights, systematically: one draw for all of them."""
    count = len(cloud.modes)
    modes, states, events = cloud.modes.copy(), cloud.states.copy(), cloud.events.copy()
    offset, source, passed = uniform(key, 0), -1, 0.0
    for b in range(count):
        while passed < (b + offset) / count and source < count - 1:
            source += 1
            passed += np.exp(cloud.log_weights[source])
        while cloud.log_weights[source] == -np.inf:  # rounding ran past the last that has weight
            source -= 1
        cloud.modes[b], cloud.events[b] = modes[source], events[source]
        put(cloud.states[b], states[source])
    for b in range(count):
        cloud.log_weights[b] = -np.log(count)
