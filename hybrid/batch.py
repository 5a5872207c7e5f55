"""Many simulations of one hybrid system at once, from different initial states."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hybrid.compiled.limits import STATUSES, Limits
from hybrid.compiled.step import Log, simulate
from hybrid.compiled.system import CompiledSystem, compiled, quiet
from hybrid.options import SimulationOptions
from hybrid.simulation import simulate_step
from hybrid.systems import Array, System


class Batch(NamedTuple):
    """Ends of B simulations. States of modes with fewer dimensions are padded with zeros."""

    modes: NDArray[np.int64]  # (B,)
    states: Array  # (B, n)
    counts: NDArray[np.int64]  # (B,) events
    status: tuple[str, ...]  # (B,) as of ``simulate_step``

    @property
    def ok(self) -> NDArray[np.bool_]:
        """Which of them reached the end (B,)."""
        return np.array([status == "ok" for status in self.status], dtype=bool)


def simulate_batch(
    system: System,
    modes: int | NDArray[np.int64],
    t: float,
    states: Array,
    u: Array,
    duration: float,
    options: SimulationOptions | None = None,
    threads: int = 1,
) -> Batch:
    """Simulate from every state with the input held; compiled where the system compiles.

    Args:
        system: the hybrid system.
        modes: number of the mode of each state (B,), or of all.
        t: time at the start [s].
        states: initial states (B, n), with n the largest dimension of any mode; a mode of fewer
            dimensions uses the first of them.
        u: input (m,).
        duration: how long [s]; ``options.max_events`` counts over all of it.
        options: accuracy.
        threads: how many to use when compiled; the results do not depend on it.

    Raises:
        ValueError: the duration is negative or endless, there is no such mode, or an array has
            another shape.
    """
    if not 0.0 <= duration < np.inf:
        raise ValueError(f"duration {duration} s: events are found forward in time; give 0 or more")
    shapes, (n, m) = (np.shape(states), np.shape(u)), (system.state_dim, system.input_dim)
    if len(shapes[0]) != 2 or shapes[0][1] != n or shapes[1] != (m,):
        raise ValueError(
            f"states have shape {shapes[0]} and the input {shapes[1]}; the system takes (B, {n})"
            f" and ({m},): give these"
        )
    for mode in np.unique(modes):
        system.outgoing(int(mode))
    states = np.asarray(states, dtype=np.float64)
    options = options or SimulationOptions()
    start = np.broadcast_to(np.asarray(modes, dtype=np.int64), len(states))
    table = compiled(system).system
    if table is None:
        return _interpreted(system, start, t, states, u, duration, options)
    return _compiled(system, table, start, t, states, u, duration, options, threads)


def _interpreted(
    system: System, modes: NDArray[np.int64], t: float, states: Array, u: Array,
    duration: float, options: SimulationOptions,
) -> Batch:  # fmt: skip
    ends, final, counts, status = np.zeros_like(states), modes.copy(), np.zeros_like(modes), []
    for b, (mode, x) in enumerate(zip(modes, states, strict=True)):
        n = system.modes[int(mode)].state_dim
        step = simulate_step(system, int(mode), t, x[:n], u, duration, options)
        ends[b, : len(step.state)] = step.state
        final[b], counts[b] = step.mode, len(step.events)
        status.append(step.status)
    return Batch(final, ends, counts, tuple(status))


def _compiled(
    system: System, table: CompiledSystem, modes: NDArray[np.int64], t: float,
    states: Array, u: Array, duration: float, options: SimulationOptions, threads: int,
) -> Batch:  # fmt: skip
    numbers = np.array(list(system.modes), dtype=np.int64)
    index = {number: i for i, number in enumerate(system.modes)}
    current = np.array([index[int(mode)] for mode in modes], dtype=np.int64)
    ends, counts = np.array(states, dtype=np.float64), np.zeros(len(states), dtype=np.int64)
    codes = np.zeros(len(states), dtype=np.int64)
    limits, u = Limits.of(options), np.asarray(u, dtype=np.float64)

    def work(part: slice) -> None:
        log = Log.empty(limits.max_events, states.shape[1])
        arrays = (current[part], ends[part], counts[part], codes[part])
        simulate_all(table, float(t), u, float(duration), limits, log, *arrays)

    parts = [slice(i, None, threads) for i in range(threads)] if threads > 1 else [slice(None)]
    with quiet():
        if threads > 1:
            work(slice(0))  # compiles once, before the threads start
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(work, parts))
        else:
            work(parts[0])
    return Batch(numbers[current], ends, counts, tuple(STATUSES[code] for code in codes))


@njit(cache=True, error_model="numpy", nogil=True)
def simulate_all(s, t, u, duration, limits, log, modes, states, counts, codes):
    """Simulate every row of ``states`` (B, n) in place."""
    for b in range(len(states)):
        log.count[0] = 0
        x = states[b, : s.dims[modes[b]]].copy()
        modes[b], x, codes[b] = simulate(s, modes[b], t, x, u, duration, 0, limits, log)
        for i in range(states.shape[1]):
            states[b, i] = x[i] if i < len(x) else 0.0
        counts[b] = log.count[0]
