"""Many trials of a particle filter at once, compiled from the first timestep to the last."""

from __future__ import annotations

import numpy as np
from numba import njit

from hybrid.compiled.limits import Limits
from hybrid.filters.compiled.tables import filter_tables
from hybrid.filters.compiled.threads import by_trial
from hybrid.filters.draws import normals, stirred
from hybrid.filters.interface import Belief
from hybrid.filters.model import FilterModel
from hybrid.filters.noises import likelihoods_of, noises_of, square_root
from hybrid.filters.particle import ParticleOptions
from hybrid.filters.particle_kernels import (
    Cloud,
    drop_failed,
    effective_size,
    move_all,
    resample,
    weigh,
)
from hybrid.filters.trial_means import Coordinates, TrialMeans, coordinate_table, width
from hybrid.systems import Array

# ruff: noqa: N806 (the letters are the thesis's)


def particle_trials(
    model: FilterModel,
    start: Belief,
    measurements: Array,
    timestep: float,
    coordinates: Coordinates | None = None,
    options: ParticleOptions | None = None,
    u: Array | None = None,
) -> TrialMeans:
    """Lead a particle filter through the measurements of each trial, from one belief.

    Args:
        model: the system with its noises and measurements.
        start: mode, mean, covariance and time from which the particles of every trial are drawn.
        measurements: (B, K, p), each at the end of a timestep.
        timestep: [s].
        coordinates: in which the mean over all particles is taken; left out, the states.
        options: trial 0 is the ``ParticleFilter`` of these, the others have other draws.
        u: input (m,), held; zeros if left out.

    Raises:
        ValueError: the model or the coordinates do not compile, or a mode lives on a manifold.
    """
    options, tables = options or ParticleOptions(), filter_tables(model)
    told = noises_of(model), likelihoods_of(model), tables.measurements
    table, limits = coordinate_table(model, coordinates), Limits.of(model.options)
    d = width(model, table, start.mode, start.mean)
    measurements = np.asarray(measurements, dtype=np.float64)
    (B, K, _), n = measurements.shape, model.system.state_dim
    means, unsound = np.zeros((B, K + 1, d)), np.zeros(B, dtype=np.int64)
    S, mode = square_root(start.Sigma, "Sigma"), list(model.system.modes).index(start.mode)
    u = np.zeros(model.system.input_dim) if u is None else np.asarray(u, dtype=np.float64)
    keys = np.array([stirred(np.uint64(options.seed), b) for b in range(B)], dtype=np.uint64)
    begin = mode, np.asarray(start.mean, dtype=np.float64), S, float(start.time), float(timestep)

    def work(part: slice) -> None:
        own = tables.system._replace(disturbance=np.zeros(n))
        cloud, spare = Cloud.empty(options.particles, n), Cloud.empty(options.particles, n)
        least = options.resample_below * options.particles
        filter_all(own, *told, table, *begin, u, measurements[part], limits, keys[part], least,
                   cloud, spare, means[part], unsound[part])  # fmt: skip

    by_trial(work, B, options.threads)
    return TrialMeans(means, int(unsound.sum()))


@njit(cache=True, error_model="numpy")
def draw(cloud, mode, mean, S, key):
    """Particles of one weight from a Gaussian in a mode."""
    z = np.empty(len(mean))
    for b in range(len(cloud.modes)):
        normals(stirred(key, b), z)
        cloud.modes[b], cloud.log_weights[b] = mode, -np.log(len(cloud.modes))
        for i in range(len(mean)):
            cloud.states[b, i] = mean[i]
            for j in range(len(mean)):
                cloud.states[b, i] += S[i, j] * z[j]


@njit(cache=True, error_model="numpy")
def mean_in(table, dims, t, u, cloud, mean):
    """Weighted mean (d,) of the particles' coordinates."""
    for i in range(len(mean)):
        mean[i] = 0.0
    for b in range(len(cloud.modes)):
        weight, mode = np.exp(cloud.log_weights[b]), cloud.modes[b]
        if weight > 0.0:
            found = table[mode](t, cloud.states[b, : dims[mode]].copy(), u)
            for i in range(len(mean)):
                mean[i] += weight * found[i]


@njit(cache=True, error_model="numpy")
def copy_cloud(source, target):
    """Write one cloud over another."""
    for b in range(len(source.modes)):
        target.modes[b], target.log_weights[b] = source.modes[b], source.log_weights[b]
        for i in range(source.states.shape[1]):
            target.states[b, i] = source.states[b, i]


@njit(cache=True, error_model="numpy", nogil=True)
def filter_all(s, noises, like, h, table, mode, mean, S, t0, dt, u, measurements, limits, keys,
               least, cloud, spare, means, unsound):  # fmt: skip
    """Fill means (B, K+1, d); as ``ParticleFilter.step`` does."""
    count = len(cloud.modes)
    for b in range(len(keys)):
        draw(cloud, mode, mean, S, stirred(keys[b], -1))
        mean_in(table, s.dims, t0, u, cloud, means[b, 0])
        for k in range(measurements.shape[1]):
            key, t = stirred(keys[b], k), t0 + k * dt
            if least >= count or effective_size(cloud.log_weights) < least:
                resample(cloud, stirred(key, 0))
            copy_cloud(cloud, spare)
            move_all(s, noises, t, u, dt, limits, stirred(key, 1), 0, 1, cloud)
            if not drop_failed(cloud):
                copy_cloud(spare, cloud)
                unsound[b] += 1
            elif not weigh(s, h, like, t + dt, u, measurements[b, k], cloud):
                unsound[b] += 1
            mean_in(table, s.dims, t + dt, u, cloud, means[b, k + 1])
