"""Trajectories with noise, and measurements of them: what filters are tried on (4.6.1).

The flow over h seconds adds the noise W(h) that ``ProcessNoise`` states; ``kernels.noisy_flow``
says how. The print has an error: docs/errata.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid.compiled.limits import STATUSES
from hybrid.filters.kernels.kalman import Gaussian
from hybrid.filters.kernels.noisy_flow import PIECES
from hybrid.filters.model import FilterModel
from hybrid.filters.tables import model_tables
from hybrid.held_inputs import held_input
from hybrid.systems import Array
from studies.kong.filters.trial_kernels import Simulated, Task, by_trial, simulate_all

# ruff: noqa: N803, N806 (the letters are the thesis's)


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


def simulate_truths(
    model: FilterModel,
    mode: int,
    states: Array,
    timestep: float,
    steps: int,
    seed: int,
    u: ArrayLike | None = None,
    threads: int = 1,
) -> Truths:
    """Simulate B trials with process, reset and measurement noise; see ``ProcessNoise``.

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
        ValueError: a mode lives on a manifold, or ``states`` has another shape.
    """
    if model.manifolds:
        raise ValueError("truths are of R^n: give coordinates without constraints")
    tables, n, B = model_tables(model, True), model.system.state_dim, len(states)
    if np.shape(states) != (B, n):
        raise ValueError(f"states have shape {np.shape(states)}; give (B, {n})")
    index, p = list(model.system.modes).index(mode), tables.own.noise.V.shape[1]
    process, reset, noise = (
        np.random.default_rng(stream).standard_normal((B, steps, *shape))
        for stream, shape in zip(
            np.random.SeedSequence(seed).spawn(3), ((PIECES, n), (PIECES, n), (p,)), strict=True
        )
    )  # ahead of threads; the first trials are the same however many there are
    out = Simulated(
        np.full((B, steps + 1), index, dtype=np.int64),
        np.full((B, steps + 1, n), np.nan),
        np.full((B, steps, p), np.nan),
        np.zeros(B, dtype=np.int64),
    )
    out.modes[:, 1:], out.states[:, 0] = 0, states
    start = Gaussian(index, 0.0, np.zeros(n), np.zeros((n, n)))
    task = Task(start, held_input(model.system, u), float(timestep))

    def work(part: slice) -> None:
        own, arrays = tables.with_disturbance(), Simulated._make(array[part] for array in out)
        simulate_all(own, task, process[part], reset[part], noise[part], arrays)

    by_trial(work, B, threads, tables)
    numbers = np.array(list(model.system.modes))
    status = tuple(STATUSES[code] for code in out.codes)
    return Truths(numbers[out.modes], out.states, out.measurements, status)
