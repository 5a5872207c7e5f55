"""Trajectories with noise, and measurements of them: what filters are tried on (4.6.1).

The disturbance omega of the flow is drawn for each timestep and held meanwhile (4.6); after a
transition another one is drawn (4.12), for the new mode has a noise of its own. So the flow over h
seconds adds the noise W(h) that ``ProcessNoise`` states. The thesis gives omega the covariance
W_Delta, whose integral over a timestep would have Delta^2 W_Delta; the filter's (4.8) adds W_Delta
itself, so it is the integral here that has it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hybrid.compiled.limits import OK, STATUSES, ZENO, Limits
from hybrid.compiled.system import CompiledSystem
from hybrid.filters.compiled.path import being_left, to_event
from hybrid.filters.compiled.tables import FilterTables, filter_tables
from hybrid.filters.compiled.threads import by_trial
from hybrid.filters.model import FilterModel
from hybrid.filters.noises import square_root
from hybrid.systems import Array

# ruff: noqa: N803, N806 (the letters are the thesis's)

PIECES = 3  # of flow in one timestep that get an omega of their own; later ones keep the last


class Truths(NamedTuple):
    """B trajectories over K timesteps. States of smaller modes are padded with zeros."""

    modes: NDArray[np.int64]  # (B, K+1) numbers of modes
    states: Array  # (B, K+1, n)
    measurements: Array  # (B, K, p) at the end of each timestep
    status: tuple[str, ...]  # (B,) as of ``simulate_step``; what follows a failure is NaN

    @property
    def ok(self) -> NDArray[np.bool_]:
        """Which of them reached the end (B,)."""
        return np.array([status == "ok" for status in self.status], dtype=bool)


class Draws(NamedTuple):
    """Standard normal numbers of B trials, drawn ahead so that threads cannot change them."""

    process: Array  # (B, K, PIECES, n)
    reset: Array  # (B, K, PIECES, n)
    measurement: Array  # (B, K, p)

    @staticmethod
    def of(seed: int, B: int, K: int, n: int, p: int) -> Draws:
        """The first trials are the same however many there are."""
        streams = [np.random.default_rng(one) for one in np.random.SeedSequence(seed).spawn(3)]
        shapes = ((B, K, PIECES, n), (B, K, PIECES, n), (B, K, p))
        return Draws(*(r.standard_normal(s) for r, s in zip(streams, shapes, strict=True)))


class Roots(NamedTuple):
    """Square roots S of covariances S S', by index of the mode or of the transition."""

    Q: Array  # (modes, n, n)
    V: Array  # (modes, p, p)
    W_R: Array  # (transitions, n, n)


def simulate_truths(
    model: FilterModel,
    mode: int,
    states: Array,
    timestep: float,
    steps: int,
    seed: int,
    u: Array | None = None,
    threads: int = 1,
) -> Truths:
    """Simulate B trials with process, reset and measurement noise.

    Args:
        model: the system with its noises and measurements.
        mode: number of the mode in which all trials start.
        states: initial states (B, n).
        timestep: between measurements [s].
        steps: number K of timesteps.
        seed: of the noise; trial b does not depend on B nor on ``threads``.
        u: input (m,), held; zeros if left out.
        threads: how many to use.

    Raises:
        ValueError: the model does not compile, or ``states`` has another shape.
    """
    tables, limits = filter_tables(model), Limits.of(model.options)
    n, p, B = model.system.state_dim, tables.V.shape[1], len(states)
    if np.shape(states) != (B, n):
        raise ValueError(f"states have shape {np.shape(states)}; give (B, {n})")
    draws, numbers = Draws.of(seed, B, steps, n, p), np.array(list(model.system.modes))
    roots = Roots(*(np.array([square_root(M, "noise") for M in stack]).reshape(stack.shape)
                    for stack in (tables.Q, tables.V, tables.W_R)))  # fmt: skip
    modes, path = np.zeros((B, steps + 1), dtype=np.int64), np.full((B, steps + 1, n), np.nan)
    measured, codes = np.full((B, steps, p), np.nan), np.zeros(B, dtype=np.int64)
    modes[:, 0], path[:, 0] = list(model.system.modes).index(mode), states
    u = np.zeros(model.system.input_dim) if u is None else np.asarray(u, dtype=np.float64)

    def work(part: slice) -> None:
        own = tables._replace(system=tables.system._replace(disturbance=np.zeros(n)))
        arrays = (modes[part], path[part], measured[part], codes[part])
        own_draws = Draws(*(array[part] for array in draws))
        simulate_all(own, roots, own_draws, float(timestep), u, limits, *arrays)

    by_trial(work, B, threads)
    return Truths(numbers[modes], path, measured, tuple(STATUSES[code] for code in codes))


@njit(cache=True, error_model="numpy")
def noise(out, S, z, factor):
    """out <- factor S z."""
    for i in range(len(out)):
        out[i] = 0.0
        for j in range(len(z)):
            out[i] += factor * S[i, j] * z[j]


@njit(cache=True, error_model="numpy")
def disturbed_step(
    s: CompiledSystem, roots: Roots, power, mode, t, x, u, end, process, reset, limits: Limits
):
    """One timestep with an omega for each piece of flow: (mode, x, status)."""
    kick = np.zeros(len(s.disturbance))
    waiting = being_left(s, mode, -1, t, x, u, limits)
    for count in range(limits.max_events + 1):
        piece, left = min(count, len(process) - 1), end - t
        if left > 0.0:
            noise(s.disturbance, roots.Q[mode], process[piece], left ** (0.5 * power[mode] - 1.0))
        x, t, e, status = to_event(s, mode, t, x, u, end, waiting, limits)
        if status != OK or e < 0:
            return mode, x, status
        x, came_from, mode = s.resets[e](t, x.copy(), u), mode, s.target[e]
        noise(kick, roots.W_R[e], reset[piece], 1.0)
        for i in range(len(x)):
            x[i] += kick[i]
        waiting |= being_left(s, mode, came_from, t, x, u, limits)
    return mode, x, ZENO


@njit(cache=True, error_model="numpy", nogil=True)
def simulate_all(
    f: FilterTables, roots: Roots, draws: Draws, dt, u, limits: Limits, modes, states, measured,
    codes,
):  # fmt: skip
    """Fill modes (B, K+1), states (B, K+1, n), measured (B, K, p) and codes (B,)."""
    s = f.system
    v = np.empty(measured.shape[2])
    for b in range(len(modes)):
        mode, t = modes[b, 0], 0.0
        x = states[b, 0, : s.dims[mode]].copy()
        for k in range(measured.shape[1]):
            end = (k + 1) * dt
            mode, x, codes[b] = disturbed_step(
                s, roots, f.power, mode, t, x, u, end, draws.process[b, k], draws.reset[b, k],
                limits,
            )  # fmt: skip
            if codes[b] != OK:
                break
            t, modes[b, k + 1] = end, mode
            for i in range(states.shape[2]):
                states[b, k + 1, i] = x[i] if i < len(x) else 0.0
            y = f.measurements[mode](t, x, u)
            noise(v, roots.V[mode], draws.measurement[b, k], 1.0)
            for i in range(len(v)):
                measured[b, k, i] = y[i] + v[i]
