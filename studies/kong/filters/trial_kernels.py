"""Kernels that lead a filter through all timesteps of many trials."""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hybrid.compiled.calls import put
from hybrid.compiled.limits import OK
from hybrid.filters.draws import subkey
from hybrid.filters.interface import NOT_TRANSVERSE
from hybrid.filters.kernels.cloud import (
    Cloud,
    draw_cloud,
    drop_failed,
    effective_size,
    move_all,
    resample,
    weigh,
)
from hybrid.filters.kernels.functions import measurement as h
from hybrid.filters.kernels.kalman import Gaussian, correct, force, predict
from hybrid.filters.kernels.mixture import (
    Mixture,
    Split,
    correct_mixture,
    make_one,
    predict_mixture,
)
from hybrid.filters.kernels.noisy_flow import Draws, noisy_step, scatter
from hybrid.filters.tables import KernelTables, ModelTables
from hybrid.systems import Array


class Task(NamedTuple):
    """What all trials have in common."""

    start: Gaussian
    u: Array  # (m,) held
    timestep: float  # [s]


class Estimated(NamedTuple):
    """What the salted filter makes of B trials over K timesteps."""

    modes: NDArray[np.int64]  # (B, K+1) by index
    means: Array  # (B, K+1, n)
    Sigmas: Array  # (B, K+1, k, k), or (B, 1, k, k) of the end alone
    squared: Array  # (B, K) normalised innovations squared
    codes: NDArray[np.int64]  # (B,)


class Averaged(NamedTuple):
    """Means over all modes of B trials, and timesteps that went wrong."""

    means: Array  # (B, K+1, d)
    failures: NDArray[np.int64]  # (B,)


class Simulated(NamedTuple):
    """Truths of B trials over K timesteps."""

    modes: NDArray[np.int64]  # (B, K+1) by index
    states: Array  # (B, K+1, n)
    measurements: Array  # (B, K, p)
    codes: NDArray[np.int64]  # (B,)


@njit(cache=True, error_model="numpy", nogil=True)
def estimate_all(f: KernelTables, task: Task, measurements, out: Estimated):
    """Fill the rows of ``out`` by the salted filter."""
    for b in range(len(measurements)):
        result = force(f, task.start, task.u, -1)
        g, code = result.g, OK
        enter(f, out, b, 0, g)
        out.means[b, 0, : len(task.start.x)] = task.start.x
        out.modes[b, 0] = task.start.mode
        for k in range(measurements.shape[1]):
            y, end = measurements[b, k].copy(), task.start.t + (k + 1) * task.timestep
            predicted = predict(f, g, task.u, end, True)
            corrected, nu = correct(f, predicted.g, task.u, y)
            g, out.squared[b, k] = corrected.g, nu.squared
            for one in (predicted.code, corrected.code):
                if code in (OK, NOT_TRANSVERSE) and one != OK:
                    code = one
            enter(f, out, b, k + 1, g)
        out.codes[b] = code


@njit(cache=True, error_model="numpy")
def enter(f: KernelTables, out: Estimated, b, k, g: Gaussian):
    """Write a Gaussian into row k of trial b."""
    out.modes[b, k] = g.mode
    put(out.means[b, k], g.x)
    room = out.Sigmas[b, min(k, out.Sigmas.shape[1] - 1)]
    for i in range(room.shape[0]):
        for j in range(room.shape[1]):
            inside = max(i, j) < f.tangent[g.mode]
            room[i, j] = g.Sigma[i, j] if inside else 0.0


@njit(cache=True, error_model="numpy", nogil=True)
def bank_all(f: KernelTables, task: Task, measurements, split: Split, pair, table, out: Averaged):
    """Fill ``out`` by the bank, whose ``pair`` of mixtures is written over."""
    mixture, other = pair
    for b in range(len(measurements)):
        make_one(f, mixture, task.start)
        mixture_mean(f, table, task.start.t, task.u, mixture, out.means[b, 0])
        make_one(f, mixture, force(f, task.start, task.u, -1).g)
        for k in range(measurements.shape[1]):
            t = task.start.t + k * task.timestep
            y, end = measurements[b, k].copy(), task.start.t + (k + 1) * task.timestep
            predict_mixture(f, mixture, t, task.u, end, split, other)
            success = not np.any(other.codes[other.weights > 0.0] % NOT_TRANSVERSE != 0)
            code, _ = correct_mixture(f, other, end, task.u, y, split, mixture)
            if code != OK:
                mixture, other = other, mixture
            out.failures[b] += not (success and code == OK)
            mixture_mean(f, table, end, task.u, mixture, out.means[b, k + 1])


@njit(cache=True, error_model="numpy")
def mixture_mean(f: KernelTables, table, t, u, mixture: Mixture, mean):
    """Weighted mean (d,) of the Gaussians' means in coordinates."""
    mean[:] = 0.0
    for mode in range(len(mixture.weights)):
        if mixture.weights[mode] > 0.0:
            x = mixture.means[mode, : f.system.dims[mode]].copy()
            mean += mixture.weights[mode] * table[mode](t, x, u)


@njit(cache=True, error_model="numpy", nogil=True)
def particles_all(f: KernelTables, task: Task, measurements, seed, clouds, table, out: Averaged):
    """Fill ``out`` by particles; ``seed`` is (keys (B,), root of Sigma, least effective size)."""
    keys, S, least = seed
    cloud, spare = clouds
    count, start = len(cloud.modes), task.start
    for b in range(len(measurements)):
        draw_cloud(cloud, start.mode, start.x, S, subkey(keys[b], -1))
        cloud_mean(f, table, start.t, task.u, cloud, out.means[b, 0])
        for k in range(measurements.shape[1]):
            key, t = subkey(keys[b], k), start.t + k * task.timestep
            if least >= count or effective_size(cloud.log_weights) < least:
                resample(cloud, subkey(key, 0))
            copy_cloud(cloud, spare)
            end = t + task.timestep
            move_all(f, t, task.u, end, subkey(key, 1), (0, 1), cloud)
            if not drop_failed(cloud):
                copy_cloud(spare, cloud)
                out.failures[b] += 1
            elif not weigh(f, end, task.u, measurements[b, k], cloud)[0]:
                out.failures[b] += 1
            cloud_mean(f, table, end, task.u, cloud, out.means[b, k + 1])


@njit(cache=True, error_model="numpy")
def cloud_mean(f: KernelTables, table, t, u, cloud: Cloud, mean):
    """Weighted mean (d,) of the particles' coordinates."""
    mean[:] = 0.0
    for b in range(len(cloud.modes)):
        weight, mode = np.exp(cloud.log_weights[b]), cloud.modes[b]
        if weight > 0.0:
            x = cloud.states[b, : f.system.dims[mode]].copy()
            mean += weight * table[mode](t, x, u)


@njit(cache=True, error_model="numpy")
def copy_cloud(source: Cloud, target: Cloud):
    """Write one cloud over another."""
    target.modes[:] = source.modes
    target.log_weights[:] = source.log_weights
    target.states[:] = source.states


@njit(cache=True, error_model="numpy", nogil=True)
def simulate_all(f: KernelTables, task: Task, process, reset, measurement, out: Simulated):
    """Fill ``out`` after its first states, with standard normal draws for each trial and timestep.

    Shapes: ``process`` and ``reset`` (B, K, PIECES, n), ``measurement`` (B, K, p).
    """
    for b in range(len(process)):
        mode, t = task.start.mode, task.start.t
        x = out.states[b, 0, : f.system.dims[mode]].copy()
        for k in range(process.shape[1]):
            end = task.start.t + (k + 1) * task.timestep
            draws = Draws(np.uint64(0), process[b, k], reset[b, k])
            mode, x, _, out.codes[b] = noisy_step(f, mode, t, x, task.u, end, draws)
            if out.codes[b] != OK:
                break
            t, out.modes[b, k + 1] = end, mode
            put(out.states[b, k + 1], x)
            out.states[b, k + 1, len(x) :] = 0.0
            p = f.noise.size[mode]
            put(out.measurements[b, k], h(f, mode, t, x, task.u))
            scatter(out.measurements[b, k, :p], f.noise.V_root[mode], measurement[b, k], 1.0)


def by_trial(work: Callable[[slice], None], count: int, threads: int, model: ModelTables) -> None:
    """Do ``work`` on slices that cover ``count`` trials; it must not matter who does which.

    On one thread where functions are in Python. What they raise is left out: it shows as NaN.
    """
    threads = max(1, min(threads, count)) if model.in_threads else 1
    work(slice(0, 0 if threads > 1 else count))  # compiles once, before the threads start
    if threads > 1:
        bounds = [count * i // threads for i in range(threads + 1)]
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, [slice(i, j) for i, j in pairwise(bounds)]))
    model.errors()
