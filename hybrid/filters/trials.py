"""Many trials filtered at once: ``SaltedKalmanFilter`` compiled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hybrid.compiled.limits import OK, STATUSES, Limits
from hybrid.compiled.runge_kutta import put
from hybrid.compiled.system import vector_table
from hybrid.filters.compiled.kalman import step, through_guards
from hybrid.filters.compiled.tables import FilterTables, filter_tables
from hybrid.filters.compiled.threads import by_trial
from hybrid.filters.compiled.truths import Truths
from hybrid.filters.interface import Belief
from hybrid.filters.model import FilterModel
from hybrid.filters.propagation import Sensitivity
from hybrid.systems import Array, System, VectorFunction

# ruff: noqa: N803, N806 (the letters are the thesis's)


class Estimates(NamedTuple):
    """What a filter believed in B trials over K timesteps; row 0 is the start."""

    modes: NDArray[np.int64]  # (B, K+1) numbers of modes
    means: Array  # (B, K+1, n), padded with zeros
    Sigmas: Array  # (B, K+1, n, n), or (B, 1, n, n) of the end alone
    status: tuple[str, ...]  # (B,) of the first timestep that was not "ok", else "ok"

    @property
    def ok(self) -> NDArray[np.bool_]:
        """Which trials went through without a failure (B,)."""
        return np.array([status == "ok" for status in self.status], dtype=bool)


def estimate_trials(
    model: FilterModel,
    start: Belief,
    measurements: Array,
    timestep: float,
    sensitivity: Sensitivity = "saltation",
    u: Array | None = None,
    threads: int = 1,
    every_covariance: bool = False,
) -> Estimates:
    """Lead a filter through the measurements of each trial, from one belief.

    Args:
        model: the system with its noises and measurements.
        start: mode, mean, covariance and time that all trials start from.
        measurements: (B, K, p), each at the end of a timestep.
        timestep: [s].
        sensitivity: "saltation" (SKF) or "reset" (JRKF).
        u: input (m,), held; zeros if left out.
        threads: how many to use; the estimates do not depend on it.
        every_covariance: keep those of all timesteps.

    Raises:
        ValueError: the model does not compile, or the measurements have another shape.
    """
    tables, limits, n = filter_tables(model), Limits.of(model.options), model.system.state_dim
    measurements = np.asarray(measurements, dtype=np.float64)
    if measurements.ndim != 3 or measurements.shape[2] != tables.V.shape[1]:
        raise ValueError(
            f"measurements have shape {measurements.shape}; give (B, K, {tables.V.shape[1]})"
        )
    (B, K, _), numbers = measurements.shape, np.array(list(model.system.modes))
    modes, means = np.zeros((B, K + 1), dtype=np.int64), np.zeros((B, K + 1, n))
    Sigmas = np.zeros((B, K + 1 if every_covariance else 1, n, n))
    codes, k = np.zeros(B, dtype=np.int64), len(start.mean)
    modes[:, 0], means[:, 0, :k] = list(model.system.modes).index(start.mode), start.mean
    Sigmas[:, 0, :k, :k] = 0.5 * (start.Sigma + start.Sigma.T)
    u = np.zeros(model.system.input_dim) if u is None else np.asarray(u, dtype=np.float64)
    fixed = (u, start.time, float(timestep), sensitivity == "saltation", limits)

    def work(part: slice) -> None:
        arrays = (modes[part], means[part], Sigmas[part], codes[part])
        estimate_all(tables, measurements[part], *fixed, *arrays)

    by_trial(work, B, threads)
    return Estimates(numbers[modes], means, Sigmas, tuple(STATUSES[code] for code in codes))


@njit(cache=True, error_model="numpy", nogil=True)
def estimate_all(f: FilterTables, measurements, u, t0, dt, salted, limits, modes, means, Sigmas,
                 codes):  # fmt: skip
    """Fill the rows of modes (B, K+1), means (B, K+1, n) and Sigmas after the first."""
    for b in range(len(modes)):
        mode, t = modes[b, 0], t0
        n = f.system.dims[mode]
        x, Sigma = means[b, 0, :n].copy(), Sigmas[b, 0, :n, :n].copy()
        mode, x, Sigma = through_guards(f, mode, t, x, Sigma, u, salted, limits)
        for k in range(measurements.shape[1]):
            end, y = t0 + (k + 1) * dt, measurements[b, k].copy()
            mode, x, Sigma, code = step(f, mode, t, x, Sigma, u, y, end, salted, limits)
            if codes[b] == OK:
                codes[b] = code
            t, modes[b, k + 1] = end, mode
            put(means[b, k + 1], x)
            room = Sigmas[b, min(k + 1, Sigmas.shape[1] - 1)]
            for i in range(room.shape[0]):
                for j in range(room.shape[1]):
                    room[i, j] = Sigma[i, j] if max(i, j) < len(x) else 0.0


def squared_errors(
    system: System,
    truths: Truths,
    estimates: Estimates,
    coordinates: Mapping[int, VectorFunction] | None = None,
) -> Array:
    """|x(t_k) - x^(t_k)|^2 (B, K) of every timestep, whose mean is the MSE (4.24).

    Args:
        system: the hybrid system.
        truths: the trials.
        estimates: of the same trials.
        coordinates: functions (t, x, u) of each mode's states, into coordinates that all modes
            share; left out, the states themselves.
    """
    truth = common(system, truths.modes, truths.states, coordinates)
    estimate = common(system, estimates.modes, estimates.means, coordinates)
    return np.sum((truth - estimate)[:, 1:] ** 2, axis=-1)


def common(
    system: System,
    modes: NDArray[np.int64],
    states: Array,
    coordinates: Mapping[int, VectorFunction] | None,
) -> Array:
    """States (B, K+1, n) in coordinates (B, K+1, c) that do not depend on the mode."""
    if coordinates is None:
        return states
    numbers = list(system.modes)
    first = np.asarray(coordinates[numbers[0]](0.0, states[0, 0].copy(), np.zeros(0)))
    found = np.empty((*states.shape[:2], len(first)))
    dims = np.array([mode.state_dim for mode in system.modes.values()])
    table = vector_table([coordinates[number] for number in numbers])
    index = np.searchsorted(np.sort(numbers), modes)
    index = np.argsort(numbers)[index]
    by_trial(lambda part: convert(table, dims, index[part], states[part], found[part]), 1, 1)
    return found


@njit(cache=True, error_model="numpy")
def convert(table, dims, modes, states, found):
    """Write the coordinates of every state; NaN where the state is."""
    for b in range(states.shape[0]):
        for k in range(states.shape[1]):
            x = states[b, k, : dims[modes[b, k]]].copy()
            put(found[b, k], table[modes[b, k]](0.0, x, np.zeros(0)))
