"""Kernels of particles: moved through hybrid transitions, weighed, resampled."""

# ruff: noqa: N803 (the letters are the thesis's)

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hybrid.compiled.limits import NOT_FINITE, OK, WRONG_DIMENSION, ZENO, Limits
from hybrid.compiled.runge_kutta import finite, put
from hybrid.compiled.system import CompiledSystem
from hybrid.filters.compiled.path import being_left, to_event
from hybrid.filters.draws import normals, stirred, uniform
from hybrid.filters.noises import Likelihoods, Noises

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
def scattered(key, S, z):
    """A draw (n,) of N(0, S S'); z (n,) is filled."""
    normals(key, z)
    drawn = np.zeros(len(S))
    for i in range(len(S)):
        for j in range(len(S)):
            drawn[i] += S[i, j] * z[j]
    return drawn


@njit(cache=True, error_model="numpy")
def disturb(noises: Noises, mode, h, key, disturbance, z):
    """Draw the disturbance omega (n,) of the flow that is held for h [s]: h omega has W(h)."""
    drawn = scattered(key, noises.process[mode], z)
    scale = h ** (0.5 * noises.power[mode] - 1.0) if h > 0.0 else 0.0
    for i in range(len(drawn)):
        disturbance[i] = scale * drawn[i]


@njit(cache=True, error_model="numpy")
def move(s: CompiledSystem, noises: Noises, mode, t, x, u, duration, limits: Limits, key):
    """One step with noise, (4.6) and (4.12): (mode, state, events, status).

    The disturbance is drawn into ``s.disturbance``: at the start, and anew after each transition.
    """
    end, events, z = t + duration, 0, np.empty(noises.process.shape[1])
    disturb(noises, mode, duration, stirred(key, 0), s.disturbance, z)
    waiting = being_left(s, mode, -1, t, x, u, limits)
    while True:
        x, t, edge, status = to_event(s, mode, t, x, u, end, waiting, limits)
        if status != OK or edge < 0:
            return mode, x, events, status
        if events == limits.max_events:
            return mode, x, events, ZENO
        events += 1
        after = s.resets[edge](t, x.copy(), u)
        came_from, mode = mode, s.target[edge]
        if len(after) != s.dims[mode]:
            return mode, x, events, WRONG_DIMENSION
        jump = scattered(stirred(key, 2 * events), noises.reset[edge], z)
        for i in range(len(after)):
            after[i] += jump[i]
        if not finite(after):
            return mode, x, events, NOT_FINITE
        x = after
        waiting |= being_left(s, mode, came_from, t, x, u, limits)
        disturb(noises, mode, end - t, stirred(key, 2 * events + 1), s.disturbance, z)


@njit(cache=True, error_model="numpy", nogil=True)
def move_all(s, noises, t, u, duration, limits, key, first, stride, cloud):
    """Move every ``stride``-th particle from the ``first`` on, in place."""
    for b in range(first, len(cloud.modes), stride):
        x = cloud.states[b, : s.dims[cloud.modes[b]]].copy()
        mode, x, cloud.events[b], cloud.codes[b] = move(
            s, noises, cloud.modes[b], t, x, u, duration, limits, stirred(key, b)
        )
        cloud.modes[b] = mode
        for i in range(cloud.states.shape[1]):
            cloud.states[b, i] = x[i] if i < len(x) else 0.0


@njit(cache=True, error_model="numpy")
def log_likelihood(like: Likelihoods, mode, expected, y):
    """(ln p(y | x) - its peak, peak) in a mode; minus infinity where y is not of its size."""
    p = like.size[mode]
    if p != len(y) or len(expected) != p:
        return -np.inf, 0.0
    z, total = np.empty(p), 0.0
    for i in range(p):
        z[i] = y[i] - expected[i]
        for j in range(i):
            z[i] -= like.L[mode, i, j] * z[j]
        z[i] /= like.L[mode, i, i]
        total += z[i] * z[i]
    return (-0.5 * total, like.peak[mode]) if np.isfinite(total) else (-np.inf, 0.0)


@njit(cache=True, error_model="numpy", nogil=True)
def weigh(s, h, like, t, u, y, cloud):
    """Multiply the weights by the likelihoods of y (p,); False, and as before, where all vanish."""
    exponents, peaks = np.empty(len(cloud.modes)), np.empty(len(cloud.modes))
    for b in range(len(exponents)):
        mode = cloud.modes[b]
        expected = h[mode](t, cloud.states[b, : s.dims[mode]].copy(), u)
        exponents[b], peaks[b] = log_likelihood(like, mode, expected, y)
    return reweigh(cloud, exponents, peaks)


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
