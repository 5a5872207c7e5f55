"""Many trials of a bank of salted filters at once: ``SaltedBank`` compiled, in R^n."""

from __future__ import annotations

import numpy as np
from numba import njit

from hybrid.compiled.limits import OK, Limits
from hybrid.filters.bank import BankOptions
from hybrid.filters.bank_kernels import Mixture, absorb, branch, clear, scale, weigh_and_correct
from hybrid.filters.compiled.tables import filter_tables
from hybrid.filters.compiled.threads import by_trial
from hybrid.filters.interface import Belief
from hybrid.filters.model import FilterModel
from hybrid.filters.trial_means import Coordinates, TrialMeans, coordinate_table, width
from hybrid.systems import Array

# ruff: noqa: N803, N806 (the letters are the thesis's)


def bank_trials(
    model: FilterModel,
    start: Belief,
    measurements: Array,
    timestep: float,
    coordinates: Coordinates | None = None,
    options: BankOptions | None = None,
    u: Array | None = None,
    threads: int = 1,
) -> TrialMeans:
    """Lead a bank through the measurements of each trial, from one belief.

    Arguments and errors are those of ``particle_trials``. The hypotheses are one a mode, so that
    ``BankOptions.most`` has no meaning here.
    """
    options, tables = options or BankOptions(), filter_tables(model)
    quiet = tables._replace(Q=np.zeros_like(tables.Q))
    table, limits = coordinate_table(model, coordinates), Limits.of(model.options)
    d = width(model, table, start.mode, start.mean)
    measurements = np.asarray(measurements, dtype=np.float64)
    B, K, _ = measurements.shape
    means, unsound = np.zeros((B, K + 1, d)), np.zeros(B, dtype=np.int64)
    u = np.zeros(model.system.input_dim) if u is None else np.asarray(u, dtype=np.float64)
    mode, Sigma = list(model.system.modes).index(start.mode), np.array(start.Sigma, dtype=float)
    begin = mode, np.array(start.mean, dtype=np.float64), Sigma, float(start.time), float(timestep)
    bounds = float(options.certain), float(options.dropped)

    def work(part: slice) -> None:
        mixture, other = (
            Mixture.empty(len(tables.system.dims), model.system.state_dim) for _ in range(2)
        )
        told = (tables, quiet, table, *begin, u, measurements[part], *bounds, limits)
        bank_all(*told, mixture, other, means[part], unsound[part])

    by_trial(work, B, threads)
    return TrialMeans(means, int(unsound.sum()))


@njit(cache=True, error_model="numpy")
def mean_in(table, dims, t, u, mixture: Mixture, mean):
    """Weighted mean (d,) of the Gaussians' means in coordinates."""
    for i in range(len(mean)):
        mean[i] = 0.0
    for mode in range(len(mixture.weights)):
        if mixture.weights[mode] > 0.0:
            found = table[mode](t, mixture.means[mode, : dims[mode]].copy(), u)
            for i in range(len(mean)):
                mean[i] += mixture.weights[mode] * found[i]


@njit(cache=True, error_model="numpy")
def step(f, quiet, mixture: Mixture, other: Mixture, t, u, y, end, certain, dropped, limits):
    """One prediction and correction; the result is in ``mixture``. Whether all went well."""
    clear(other)
    sound = True
    for mode in range(len(mixture.weights)):
        if mixture.weights[mode] > 0.0:
            n = f.system.dims[mode]
            x, Sigma = mixture.means[mode, :n].copy(), mixture.Sigmas[mode, :n, :n].copy()
            weight = mixture.weights[mode]
            how = branch(f, quiet, mode, weight, t, x, Sigma, u, end, certain, limits, other)
            sound = sound and how == OK
    scale(other, dropped)
    if weigh_and_correct(f, other, end, u, y, certain, limits, mixture):
        scale(mixture, dropped)
        return sound
    for mode in range(len(other.weights)):
        mixture.weights[mode] = other.weights[mode]
        for i in range(other.means.shape[1]):
            mixture.means[mode, i] = other.means[mode, i]
            for j in range(other.means.shape[1]):
                mixture.Sigmas[mode, i, j] = other.Sigmas[mode, i, j]
    return False


@njit(cache=True, error_model="numpy", nogil=True)
def bank_all(f, quiet, table, mode, mean, Sigma, t0, dt, u, measurements, certain, dropped, limits,
             mixture, other, means, unsound):  # fmt: skip
    """Fill means (B, K+1, d); as ``SaltedBank.step`` does."""
    for b in range(len(means)):
        clear(mixture)
        absorb(mixture, mode, 1.0, mean, Sigma)
        mean_in(table, f.system.dims, t0, u, mixture, means[b, 0])
        for k in range(measurements.shape[1]):
            t, end, y = t0 + k * dt, t0 + (k + 1) * dt, measurements[b, k].copy()
            if not step(f, quiet, mixture, other, t, u, y, end, certain, dropped, limits):
                unsound[b] += 1
            mean_in(table, f.system.dims, end, u, mixture, means[b, k + 1])
