"""Many trials filtered at once, compiled to the last timestep: salted filter, bank, particles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid.filters.bank import BankOptions
from hybrid.filters.draws import subkey
from hybrid.filters.interface import Belief, initial_belief, status_of
from hybrid.filters.kernels.cloud import Cloud
from hybrid.filters.kernels.kalman import gaussian_of
from hybrid.filters.kernels.mixture import Mixture
from hybrid.filters.model import FilterModel, covariance_root
from hybrid.filters.particle import ParticleOptions, check_densities
from hybrid.filters.salted import Sensitivity
from hybrid.filters.tables import ModelTables, model_tables
from hybrid.held_inputs import held_input
from hybrid.systems import Array
from studies.kong.filters.coordinates import CoordinatesByMode, coordinate_table, width
from studies.kong.filters.trial_kernels import (
    Averaged,
    Estimated,
    Task,
    bank_all,
    by_trial,
    estimate_all,
    particles_all,
)

# ruff: noqa: N803, N806 (the letters are the thesis's)


class Estimates(NamedTuple):
    """What a filter believed in B trials over K timesteps; row 0 is the start."""

    modes: NDArray[np.int64]  # (B, K+1) numbers of modes
    means: Array  # (B, K+1, n), padded with zeros
    Sigmas: Array  # (B, K+1, k, k), or (B, 1, k, k) of the end alone
    squared: Array  # (B, K) normalised innovations squared, see ``hybrid.filters.consistency``
    status: tuple[str, ...]  # (B,) of the first failure, else "not_transverse" or "ok"

    @property
    def ok(self) -> NDArray[np.bool_]:
        """Which trials went through without a failure (B,)."""
        return np.array([status in ("ok", "not_transverse") for status in self.status], dtype=bool)


class TrialMeans(NamedTuple):
    """Means of B trials over K timesteps, row 0 at the start."""

    means: Array  # (B, K+1, d)
    failures: int  # timesteps of all trials in which no estimate explained the measurement


def estimate_trials(
    model: FilterModel,
    start: Belief,
    measurements: Array,
    timestep: float,
    sensitivity: Sensitivity = "saltation",
    u: ArrayLike | None = None,
    threads: int = 1,
    every_covariance: bool = False,
) -> Estimates:
    """Lead a salted filter through the measurements of each trial, from one belief.

    Args:
        model: the system with its noises and measurements.
        start: mode, mean, covariance and time that all trials start from.
        measurements: (B, K, p), each at the end of a timestep.
        timestep: [s].
        sensitivity: "saltation" (SKF) or "reset" (JRKF).
        u: input (m,), held; zeros if left out.
        threads: how many to use; the estimates do not depend on it. Models with functions that do
            not compile take one.
        every_covariance: keep those of all timesteps.

    Raises:
        ValueError: the start is none, or the measurements or the input have another shape.
    """
    tables = model_tables(model, native_code=True, salted=sensitivity == "saltation")
    task, ys = _task(model, tables, start, measurements, timestep, u)
    (B, K, _), k = ys.shape, int(tables.own.tangent.max())
    out = Estimated(
        np.zeros((B, K + 1), dtype=np.int64),
        np.zeros((B, K + 1, model.system.state_dim)),
        np.zeros((B, K + 1 if every_covariance else 1, k, k)),
        np.full((B, K), np.nan),
        np.zeros(B, dtype=np.int64),
    )

    def work(part: slice) -> None:
        estimate_all(tables.tables, task, ys[part], Estimated._make(array[part] for array in out))

    by_trial(work, B, threads, tables)
    numbers = np.array(list(model.system.modes))
    status = tuple(status_of(int(code))[0] for code in out.codes)
    return Estimates(numbers[out.modes], out.means, out.Sigmas, out.squared, status)


def bank_trials(
    model: FilterModel,
    start: Belief,
    measurements: Array,
    timestep: float,
    coordinates: CoordinatesByMode | None = None,
    options: BankOptions | None = None,
    u: ArrayLike | None = None,
    threads: int = 1,
) -> TrialMeans:
    """Lead a bank through the measurements of each trial, from one belief.

    Arguments and errors are those of ``particle_trials``.
    """
    tables, split = model_tables(model, native_code=True), (options or BankOptions()).split()
    task, ys = _task(model, tables, start, measurements, timestep, u)
    table = coordinate_table(model, coordinates)
    out = _averages(model, table, start, ys)

    def work(part: slice) -> None:
        pair = Mixture.empty(tables), Mixture.empty(tables)
        arrays = Averaged._make(array[part] for array in out)
        bank_all(tables.tables, task, ys[part], split, pair, table, arrays)

    by_trial(work, len(ys), threads, tables)
    return TrialMeans(out.means, int(out.failures.sum()))


def particle_trials(
    model: FilterModel,
    start: Belief,
    measurements: Array,
    timestep: float,
    coordinates: CoordinatesByMode | None = None,
    options: ParticleOptions | None = None,
    u: ArrayLike | None = None,
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
        ValueError: the coordinates do not compile, a mode lives on a manifold, the start is none,
            or a shape is wrong.
    """
    check_densities(model)
    options, tables = options or ParticleOptions(), model_tables(model, native_code=True)
    task, ys = _task(model, tables, start, measurements, timestep, u)
    table = coordinate_table(model, coordinates)
    out, n = _averages(model, table, start, ys), model.system.state_dim
    keys = np.array([subkey(np.uint64(options.seed), b) for b in range(len(ys))], dtype=np.uint64)
    S, least = covariance_root(task.start.Sigma), options.resample_below * options.particles

    def work(part: slice) -> None:
        own, seed = tables.with_disturbance(), (keys[part], S, least)
        clouds = Cloud.empty(options.particles, n), Cloud.empty(options.particles, n)
        arrays = Averaged._make(array[part] for array in out)
        particles_all(own, task, ys[part], seed, clouds, table, arrays)

    by_trial(work, len(ys), options.threads, tables)
    return TrialMeans(out.means, int(out.failures.sum()))


def _task(
    model: FilterModel, tables: ModelTables, start: Belief, measurements: Array, timestep: float,
    u: ArrayLike | None,
) -> tuple[Task, Array]:  # fmt: skip
    """The checked task, and the measurements (B, K, p)."""
    begin = initial_belief(model, start.mode, start.mean, start.Sigma, start.time)
    ys = np.asarray(measurements, dtype=np.float64)
    sizes = np.unique(tables.own.noise.size).tolist()
    if ys.ndim != 3 or ys.shape[2] not in sizes:
        raise ValueError(f"measurements have shape {ys.shape}; give (B, K, {sizes[0]})")
    if not 0.0 < timestep < np.inf:
        raise ValueError(f"a timestep of {timestep} s: give a positive one")
    g = gaussian_of(begin, list(model.system.modes))
    return Task(g, held_input(model.system, u), float(timestep)), ys


def _averages(model: FilterModel, table: tuple, start: Belief, ys: Array) -> Averaged:
    """Room for the means of all trials."""
    d = width(model, table, start.mode, start.mean)
    means = np.zeros((len(ys), ys.shape[1] + 1, d))
    return Averaged(means, np.zeros(len(ys), dtype=np.int64))
