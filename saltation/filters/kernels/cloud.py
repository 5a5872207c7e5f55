"""Kernels of particles: moved through hybrid transitions, weighed, resampled."""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from saltation.arrays import Array, Integers
from saltation.cholesky import solve_lower
from saltation.compiled.calls import put
from saltation.compiled.limits import OK
from saltation.filters.draws import normals, subkey, uniform
from saltation.filters.kernels.functions import measurement
from saltation.filters.kernels.kalman import nis
from saltation.filters.kernels.matrices import cholesky
from saltation.filters.kernels.noisy_flow import Draws, noisy_step
from saltation.kernels import kernel, unlocked_kernel

VANISHED = -745.0  # the exponential of less is zero


class Cloud(NamedTuple):
    """N particles; modes by index, states padded with zeros."""

    modes: Integers  # (N,)
    states: Array  # (N, n)
    log_weights: Array  # (N,), of weights with the sum 1
    events: Integers  # (N,) in the last step
    codes: Integers  # (N,) how the last step ended

    @staticmethod
    def empty(count: int, n: int) -> Cloud:
        """Room for ``count`` particles of the same weight."""
        zero = np.zeros(count, np.int64)
        weights = np.full(count, -np.log(count))
        return Cloud(zero, np.zeros((count, n)), weights, zero.copy(), zero.copy())

    def copy(self) -> Cloud:
        """The same particles again."""
        return Cloud._make(array.copy() for array in self)


@kernel
def draw_cloud(cloud, mode, mean, S, key):
    """Particles of one weight from a Gaussian with the covariance S S' in a mode."""
    z = np.empty(len(mean))
    for b in range(len(cloud.modes)):
        normals(subkey(key, b), z)
        cloud.modes[b], cloud.log_weights[b] = mode, -np.log(len(cloud.modes))
        for i in range(len(mean)):
            cloud.states[b, i] = mean[i]
            for j in range(len(mean)):
                cloud.states[b, i] += S[i, j] * z[j]


@unlocked_kernel
def move_all(f, t, u, end, key, part, cloud):
    """Move a part of the particles, every n-th from a first on (first, n), to ``end`` [s]."""
    none = np.empty((0, cloud.states.shape[1]))
    for b in range(part[0], len(cloud.modes), part[1]):
        x = cloud.states[b, : f.system.dims[cloud.modes[b]]].copy()
        draws = Draws(subkey(key, b), none, none)
        mode, x, cloud.events[b], cloud.codes[b] = noisy_step(
            f, cloud.modes[b], t, x, u, end, draws
        )
        cloud.modes[b] = mode
        for i in range(cloud.states.shape[1]):
            cloud.states[b, i] = x[i] if i < len(x) else 0.0


@unlocked_kernel
def weigh(f, t, u, y, cloud):
    """Multiply the weights by the likelihoods of y (p,).

    Returns whether they do not all vanish (else nothing is changed), and the squared innovation.
    """
    count, p, modes = len(cloud.modes), len(y), len(f.noise.size)
    exponents, peaks, weights = np.full(count, -np.inf), np.zeros(modes), np.zeros(count)
    expected, L = np.zeros((count, p)), np.zeros((modes, p, p))
    for mode in range(modes):
        if f.noise.size[mode] == p:
            L[mode] = cholesky(f.noise.V[mode, :p, :p].copy())[0]
            peaks[mode] = -0.5 * p * np.log(2.0 * np.pi) - np.sum(np.log(np.diag(L[mode])))
    for b in range(count):
        mode = cloud.modes[b]
        if f.noise.size[mode] == p:
            x = cloud.states[b, : f.system.dims[mode]].copy()
            expected[b] = measurement(f, mode, t, x, u)
            z = (y - expected[b]).reshape((p, 1))
            solve_lower(L[mode], z)
            square = np.sum(z * z)
            exponents[b] = -0.5 * square if np.isfinite(square) else -np.inf
            weights[b] = np.exp(cloud.log_weights[b])
    squared = nis(weights, cloud.modes, expected, f.noise.V, y)
    if not np.max(np.where(cloud.log_weights > -np.inf, exponents, -np.inf)) > VANISHED:
        return False, squared
    return normalise(cloud.log_weights, cloud.log_weights + exponents + peaks[cloud.modes]), squared


@kernel
def normalise(log_weights, logs):
    """Set the weights to those of ``logs`` (N,), scaled to the sum 1; False where all are zero."""
    largest = np.max(logs)
    if not np.isfinite(largest):
        return False
    log_weights[:] = logs - (largest + np.log(np.sum(np.exp(logs - largest))))
    return True


@kernel
def drop_failed(cloud):
    """Leave out particles that could not be followed; False, with nothing done, if none could."""
    failed = cloud.codes != OK
    if not normalise(cloud.log_weights, np.where(failed, -np.inf, cloud.log_weights)):
        return False
    for b in range(len(failed)):
        if failed[b]:  # the state may not be finite
            cloud.states[b, :] = 0.0
    return True


@kernel
def effective_size(log_weights):
    """1 / sum of the squared weights: how many particles of one weight were as good."""
    return 1.0 / np.sum(np.exp(2.0 * log_weights))


@unlocked_kernel
def resample(cloud, key):
    """Draw the particles anew by their weights, systematically: one draw for all of them."""
    count = len(cloud.modes)
    modes, states, events = cloud.modes.copy(), cloud.states.copy(), cloud.events.copy()
    offset, source, total = uniform(key, 0), -1, 0.0
    for b in range(count):
        while total < (b + offset) / count and source < count - 1:
            source += 1
            total += np.exp(cloud.log_weights[source])
        while cloud.log_weights[source] == -np.inf:  # by rounding, beyond the last that has weight
            source -= 1
        cloud.modes[b], cloud.events[b] = modes[source], events[source]
        put(cloud.states[b], states[source])
    cloud.log_weights[:] = -np.log(count)
