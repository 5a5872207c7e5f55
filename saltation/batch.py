"""Many simulations of one hybrid system at once, from different initial states."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from saltation import failure
from saltation.arrays import Flags, Integers
from saltation.compiled.limits import (
    FULL,
    GUARD_NOT_FINITE,
    NOT_FINITE,
    OK,
    RESET_NOT_FINITE,
    RESOLUTION,
    STATUSES,
    WRONG_DIMENSION,
    Limits,
)
from saltation.compiled.step import EDGE, TIME, Log, course_from, proceed
from saltation.compiled.system import TableSet, native_tables
from saltation.held_inputs import held_input
from saltation.kernels import unlocked_kernel
from saltation.options import SimulationOptions
from saltation.systems import Array, System
from saltation.threads import in_threads

ROOM = 64  # events of a simulation that a log has room for at first


class Batch(NamedTuple):
    """Ends of B simulations. States of modes with fewer dimensions are padded with zeros."""

    modes: Integers  # (B,)
    states: Array  # (B, n)
    event_times: list[Array]  # (B,) of arrays (events,) [s]
    status: tuple[str, ...]  # (B,) as of ``simulate``
    messages: tuple[str, ...]  # (B,) what went wrong where, "" when ok

    def __repr__(self) -> str:
        """Number of the simulations, and their ends."""
        ends = ", ".join(f"{self.status.count(each)} {each}" for each in sorted(set(self.status)))
        return f"Batch of {len(self.status)}: {ends}"

    @property
    def ok(self) -> Flags:
        """Simulations that reached the end (B,)."""
        return np.array([status == "ok" for status in self.status], bool)

    @property
    def counts(self) -> Integers:
        """Number of events (B,)."""
        return np.array([len(times) for times in self.event_times], np.int64)


def simulate_batch(
    system: System,
    modes: int | Integers,
    states: Array,
    duration: ArrayLike,
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
        duration: how long [s], one for all or one for each (B,).
        u: input (m,); zeros if left out.
        t: time at the start [s].
        options: accuracy.
        threads: how many to use; the results do not depend on it.

    Raises:
        ValueError: a time is not finite or the duration negative, there is no such mode, or an
            array has another shape.
    """
    durations = np.array(np.broadcast_to(duration, len(states)), float)
    if not (np.all((durations >= 0.0) & (durations < np.inf)) and np.isfinite(t)):
        raise ValueError(
            f"t = {t} s and duration = {duration} s: events are found forward in time; give finite"
            " times, and a duration of 0 or more"
        )
    u, n = held_input(system, u), system.state_dim
    if np.ndim(states) != 2 or np.shape(states)[1] != n:
        raise ValueError(f"states of shape {np.shape(states)}; the system takes (B, {n})")
    for mode in np.unique(modes):
        system.outgoing(int(mode))
    numbers = list(system.modes)
    index = [numbers.index(mode) for mode in np.broadcast_to(modes, len(states)).tolist()]
    rows = Rows.at(np.array(index, np.int64), float(t), np.array(states, float), ROOM)
    tables, limits = native_tables(system), Limits.of(options or SimulationOptions())
    if tables.reason:
        threads = 1  # callbacks share their arrays
    times: list[Array] = [np.zeros(0)] * len(states)

    def work(part: Integers) -> None:
        for some in np.array_split(part, max(1, len(part) // 256)):
            _simulate_rows(tables, rows, u, durations, limits, some, times)

    in_threads(work, [np.arange(len(states))[i::threads] for i in range(threads)], np.arange(0))
    messages = _messages(system, tables, rows, u, options)
    status = tuple(STATUSES[code] for code in rows.codes[:, 0])
    return Batch(np.array(numbers)[rows.modes], rows.states, times, status, messages)


class Rows(NamedTuple):
    """B simulations: where each is, how it ended, and the times of its events."""

    modes: Integers  # (B,) indices
    states: Array  # (B, n)
    times: Array  # (B,) [s]
    codes: Integers  # (B, 2) how it ended, and the transition of a failure
    events: Array  # (B, room) times [s]
    counts: Integers  # (B,) of events

    @staticmethod
    def at(modes: Integers, t: float, states: Array, room: int) -> Rows:
        """At their start, with room for so many events."""
        B = len(states)  # noqa: N806
        codes, counts = np.zeros((B, 2), np.int64), np.zeros(B, np.int64)
        return Rows(modes, states, np.full(B, t), codes, np.zeros((B, room)), counts)


def _simulate_rows(
    tables: TableSet, rows: Rows, u: Array, durations: Array, limits: Limits, pending: Integers,
    times: list[Array],
) -> None:  # fmt: skip
    """Simulate some rows, in place, with a log that grows where a row needs it."""
    room, n = ROOM, rows.states.shape[1]
    while len(pending):
        start = float(rows.times[pending[0]])
        some = Rows.at(rows.modes[pending], start, rows.states[pending], room)
        log = Log.empty(room, n)
        simulate_all(tables.tables, u, durations[pending], limits, log, some)
        done = some.codes[:, 0] != FULL
        for whole, part in zip(rows[:4], some[:4], strict=True):
            whole[pending[done]] = part[done]
        for i in np.flatnonzero(done):
            times[pending[i]] = some.events[i, : some.counts[i]].copy()
        pending, room = pending[~done], 8 * room


def _messages(
    system: System, tables: TableSet, rows: Rows, u: Array, options: SimulationOptions | None
) -> tuple[str, ...]:
    """The reason why each row ended early, or ""; raises what functions have raised."""
    problem, codes = tables.callbacks.wrong_dimension(), rows.codes
    if problem:
        failed = np.isin(codes[:, 0], (NOT_FINITE, GUARD_NOT_FINITE, RESET_NOT_FINITE))
        codes[failed, 0] = WRONG_DIMENSION
    messages, numbers = [""] * len(codes), list(system.modes)
    for b in np.flatnonzero(codes[:, 0] != OK):
        mode, (code, edge), t = numbers[rows.modes[b]], codes[b], float(rows.times[b])
        x = rows.states[b, : system.modes[mode].state_dim]
        if problem and code == WRONG_DIMENSION:
            messages[b] = f"{failure.place(system, mode, t, x)}: {problem}"
        else:
            end = (int(code), int(edge), mode, t, x, u, options)
            messages[b] = failure.message(system, *end)
    return tuple(messages)


@unlocked_kernel
def simulate_all(s, u, durations, limits: Limits, log: Log, rows: Rows):
    """Simulate every row, in place."""
    states, until = rows.states, np.zeros(len(s.source), np.bool_)
    for b in range(len(states)):
        log.count[0], t = 0, rows.times[b]
        duration = durations[b]
        c, spacing = course_from(s, rows.modes[b], t, states[b], duration), duration / RESOLUTION
        code = proceed(s, c, t + duration, u, 0, spacing, until, limits, log)
        rows.codes[b, 0], rows.codes[b, 1] = code, c.counts[EDGE]
        rows.times[b], rows.counts[b] = c.clock[TIME], log.count[0]
        rows.modes[b] = c.mode[0]
        n = s.dims[rows.modes[b]]
        for i in range(states.shape[1]):
            states[b, i] = c.state[i] if i < n else 0.0
        for i in range(log.count[0]):
            rows.events[b, i] = log.time[i]
