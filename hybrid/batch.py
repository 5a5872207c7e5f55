"""Many simulations of one hybrid system at once, from different initial states."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hybrid import failure
from hybrid.compiled.callbacks import DimensionError
from hybrid.compiled.limits import (
    FULL,
    GUARD_NOT_FINITE,
    NOT_FINITE,
    RESET_NOT_FINITE,
    RESOLUTION,
    STATUSES,
    WRONG_DIMENSION,
    Limits,
)
from hybrid.compiled.step import Course, Log, proceed
from hybrid.compiled.system import native_tables
from hybrid.compiled.tables import Compiled
from hybrid.held_inputs import held_input
from hybrid.options import SimulationOptions
from hybrid.systems import Array, System

ROOM = 64  # events of a simulation that a log has room for at first


class Batch(NamedTuple):
    """Ends of B simulations. States of modes with fewer dimensions are padded with zeros."""

    modes: NDArray[np.int64]  # (B,)
    states: Array  # (B, n)
    event_times: list[Array]  # (B,) of arrays (events,) [s]
    status: tuple[str, ...]  # (B,) as of ``simulate``
    messages: tuple[str, ...]  # (B,) what went wrong where, "" when ok

    @property
    def ok(self) -> NDArray[np.bool_]:
        """Which of them reached the end (B,)."""
        return np.array([status == "ok" for status in self.status], dtype=bool)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of events (B,)."""
        return np.array([len(times) for times in self.event_times], dtype=np.int64)


def simulate_batch(
    system: System,
    modes: int | NDArray[np.int64],
    states: Array,
    duration: float,
    u: Array | None = None,
    t: float = 0.0,
    options: SimulationOptions | None = None,
    threads: int = 1,
) -> Batch:
    """Simulate from every state with the input held; compiled where the system compiles.

    Args:
        system: the hybrid system.
        modes: number of the mode of each state (B,), or of all.
        states: initial states (B, n), with n the largest dimension of any mode; a mode of fewer
            dimensions uses the first of them.
        duration: how long [s].
        u: input (m,); zeros if left out.
        t: time at the start [s].
        options: accuracy.
        threads: how many to use; the results do not depend on it.

    Raises:
        ValueError: a time is not finite or the duration negative, there is no such mode, or an
            array has another shape.
    """
    if not (0.0 <= duration < np.inf and np.isfinite(t)):
        raise ValueError(
            f"t = {t} s and duration = {duration} s: events are found forward in time; give finite"
            " times, and a duration of 0 or more"
        )
    u, n = held_input(system, u), system.state_dim
    if np.ndim(states) != 2 or np.shape(states)[1] != n:
        raise ValueError(f"states of shape {np.shape(states)}; the system takes (B, {n})")
    for mode in np.unique(modes):
        system.outgoing(int(mode))
    states = np.array(states, dtype=np.float64)
    numbers = np.array(list(system.modes), dtype=np.int64)
    index = {number: i for i, number in enumerate(system.modes)}
    current = np.array(
        [index[int(mode)] for mode in np.broadcast_to(modes, len(states))], dtype=np.int64
    )
    tables, limits = native_tables(system), Limits.of(options or SimulationOptions())
    if tables.reason:
        threads = 1  # callbacks share their arrays
    result = _Results(tables, limits, float(t), u, float(duration))
    times: list[Array] = [np.zeros(0)] * len(states)
    ends, codes = np.empty(len(states)), np.zeros((len(states), 2), dtype=np.int64)

    def work(part: NDArray[np.int64]) -> None:
        for rows in np.array_split(part, max(1, len(part) // 256)):
            result.simulate(rows, current, states, ends, codes, times)

    parts = [np.arange(len(states))[i::threads] for i in range(threads)]
    if threads > 1:
        work(np.arange(0))  # compiles once, before the threads start
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, parts))
    else:
        work(parts[0])
    problem = ""
    if tables.callbacks.errors and isinstance(tables.callbacks.errors[0], DimensionError):
        problem = str(tables.callbacks.errors[0])
        tables.callbacks.errors.clear()
        failed = np.isin(codes[:, 0], (NOT_FINITE, GUARD_NOT_FINITE, RESET_NOT_FINITE))
        codes[failed, 0] = WRONG_DIMENSION
    tables.callbacks.raise_errors()
    messages = []
    for b, (code, edge) in enumerate(codes):
        mode = int(numbers[current[b]])
        x = states[b, : system.modes[mode].state_dim]
        if problem and code == WRONG_DIMENSION:
            messages.append(f"{failure.place(system, mode, ends[b], x)}: {problem}")
        else:
            messages.append(
                failure.message(system, int(code), int(edge), mode, ends[b], x, u, options)
            )
    status = tuple(STATUSES[code] for code in codes[:, 0])
    return Batch(numbers[current], states, times, status, tuple(messages))


class _Results:
    """What simulates rows of a batch, with a log that grows where a row needs it."""

    def __init__(self, tables: Compiled, limits: Limits, t: float, u: Array, duration: float):
        self._tables, self._limits = tables.tables, limits
        self._t, self._u, self._duration = t, u, duration

    def simulate(
        self,
        rows: NDArray[np.int64],
        modes: NDArray[np.int64],
        states: Array,
        ends: Array,
        codes: NDArray[np.int64],
        times: list[Array],
    ) -> None:
        """Simulate some rows, in place."""
        n, room = states.shape[1], ROOM
        pending = rows
        while True:
            count = len(pending)
            now, x = modes[pending], states[pending]
            t, code = np.full(count, self._t), np.zeros((count, 2), dtype=np.int64)
            events, log = np.zeros((count, room)), Log.empty(room, n)
            number = np.zeros(count, dtype=np.int64)
            simulate_all(
                self._tables, self._u, self._duration, self._limits, log, now, x, t, code, events,
                number,
            )  # fmt: skip
            done = code[:, 0] != FULL
            whole = pending[done]
            modes[whole], states[whole], ends[whole] = now[done], x[done], t[done]
            codes[whole] = code[done]
            for i in np.flatnonzero(done):
                times[pending[i]] = events[i, : number[i]].copy()
            pending, room = pending[~done], 8 * room
            if not len(pending):
                return


@njit(cache=True, error_model="numpy", nogil=True)
def simulate_all(s, u, duration, limits, log, modes, states, times, codes, events, counts):
    """Simulate every row of ``states`` (B, n) in place; ``times`` (B,) are starts, then ends."""
    until = np.zeros(len(s.source), dtype=np.bool_)
    for b in range(len(states)):
        log.count[0] = 0
        clock = np.array([times[b], np.nan, times[b]])
        course = Course(modes[b : b + 1], states[b].copy(), clock, np.zeros(3, dtype=np.int64))
        end = times[b] + duration
        codes[b, 0] = proceed(s, course, end, u, 0, duration / RESOLUTION, until, limits, log)
        codes[b, 1], times[b], counts[b] = course.counts[2], course.clock[0], log.count[0]
        n = s.dims[modes[b]]
        for i in range(states.shape[1]):
            states[b, i] = course.state[i] if i < n else 0.0
        for i in range(log.count[0]):
            events[b, i] = log.time[i]
