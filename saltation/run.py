"""Runs: simulated trajectories, to plot, and to ask for the state at any time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltation.arrays import Integers, Pair
from saltation.compiled.runge_kutta import dense_states
from saltation.compiled.step import STEP, Log
from saltation.events import EventRecord, Status
from saltation.options import SimulationOptions
from saltation.path_derivatives import PathDerivatives
from saltation.saltations import Saltation, saltation
from saltation.systems import Array, System

POINTS = 200  # in a run, at least, for plots


class Record(NamedTuple):
    """Steps and events of a simulation in order of time, as in ``Log``, and where it ended."""

    knot: Integers  # (K,) row of the input
    edge: Integers  # (K,) index of the transition, or STEP
    time: Array  # (K,) of the event, or of the start of the step [s]
    before: Array  # (K, n)
    after: Array  # (K, n)
    span: Array  # (K,) of the step's dense output [s]
    C: Array  # (K, DEGREE, n)
    end: tuple[int, float, Array] = (0, 0.0, np.empty(0))  # mode, time [s] and state (n,) reached

    @staticmethod
    def of(log: Log) -> Record:
        """A copy of what a log holds."""
        columns: list[Any] = [column[: log.count[0]].copy() for column in log[1:]]
        return Record(*columns)

    @property
    def ends(self) -> Array:
        """Time (K,) at which each step or event ends [s]."""
        return np.append(self.time[1:], self.end[1])

    def rows(self, some: NDArray) -> Record:
        """Some of the rows."""
        columns: list[Any] = [column[some] for column in self[:-1]]
        return Record(*columns, end=self.end)

    @staticmethod
    def joined(parts: Sequence[Record], end: tuple[int, float, Array]) -> Record:
        """Records that follow one another, as one."""
        columns: list[Any] = [np.concatenate(each) for each in [*zip(*parts, strict=True)][:-1]]
        return Record(*columns, end=end)

    def events(self, system: System, inputs: Array) -> tuple[EventRecord, ...]:
        """All events; ``inputs`` (N, m) are those that the knots number."""
        rows = np.flatnonzero(self.edge != STEP)
        return tuple(event_of(system, self, int(row), inputs[self.knot[row]]) for row in rows)


def event_of(system: System, log: Record | Log, row: int, u: Array) -> EventRecord:
    """The event of a row of a log."""
    edge = system.transitions[log.edge[row]]
    n, after = (system.modes[i].state_dim for i in (edge.source, edge.target))
    before, end = log.before[row, :n].copy(), log.after[row, :after].copy()
    return EventRecord(edge, float(log.time[row]), before, end, u)


class RunDerivatives(NamedTuple):
    """First derivatives of a run's end, and of its events' times, through all events.

    Status "ok", or "not_transverse" where an event has none, (3.11).
    """

    state: Array  # of the end by the start (n_end, n), the fundamental matrix (3.33)
    inputs: Array  # by each input (N, n_end, m)
    parameters: Array  # (n_end, k)
    event_times_state: Array  # (E, n) [s]
    event_times_inputs: Array  # (N, E, m) [s]
    event_times_parameters: Array  # (E, k) [s]
    status: str
    message: str

    @staticmethod
    def of(path: PathDerivatives, n: int, inputs: tuple[int, ...], k: int) -> RunDerivatives:
        """Split the columns of a path: n of the start, and m + k of each of N inputs."""
        N, m = inputs
        parts: list[Any] = []
        for D in (path.D, np.reshape(path.event_times, (-1, path.D.shape[1]))):
            each = np.moveaxis(D[:, n:].reshape(len(D), N, m + k), 1, 0)
            parts += [D[:, :n], each[:, :, :m], each[:, :, m:].sum(0)]
        return RunDerivatives(*parts, status=path.status, message=path.message)


class Segment(NamedTuple):
    """Flow in one mode, between two events; it may last no time at all."""

    mode: int
    start: float  # [s]
    end: float  # [s]
    times: Array  # (K,) ends of the integration steps [s]
    states: Array  # (K, n)


@dataclass(frozen=True, repr=False)
class Run:
    """A trajectory of a hybrid system: segments of flow, with an event between each two."""

    system: System
    start: Any  # mode, time [s] and state (n,)
    record: Record
    inputs: Array  # (N, m), each held over its timestep
    ends: Array  # (N,) of the timesteps [s]
    status: Status
    message: str = ""
    watching: tuple[Record, ...] = ()
    t_eval: Array | None = None

    def __repr__(self) -> str:
        """Status, events, and where it ended."""
        mode, t, x = self.record.end
        return (
            f"Run: {self.status}, {len(self.events)} events, in mode {mode} at {t:.6g} s, x = {x}"
        )

    @property
    def ok(self) -> bool:
        """Whether the end of the duration was reached."""
        return self.status == "ok"

    @cached_property
    def events(self) -> tuple[EventRecord, ...]:
        """Events in order of time."""
        return self.record.events(self.system, self.inputs)

    @property
    def watched(self) -> tuple[Pair, ...]:
        """Times (K,) [s] and states (K, n) of the zeros of each ``Event`` that was given."""
        return tuple((record.time, record.before) for record in self.watching)

    @cached_property
    def entered_behind(self) -> tuple[str, ...]:
        """Transitions whose guard lay behind an event's end: they happened at once, or wait."""
        found = []
        for event in self.events:
            at = event.time, event.state_after, event.input
            for edge in self.system.outgoing(event.transition.target):
                if edge.is_behind(*at):
                    then = "happens at once" if edge.on == "level" else "waits"
                    found.append(
                        f"{event.transition.label} at t = {event.time:.12g} s leads behind the"
                        f" guard of {edge.label}, which {then}"
                    )
        return tuple(found)

    @property
    def t(self) -> Array:
        """Times (K,) of ``y`` [s]: those of ``t_eval`` that were reached, else ``times``."""
        return self.times if self.t_eval is None else self.t_eval[self.t_eval <= self.final_time]

    @property
    def y(self) -> Array:
        """States (n, K) at ``t``, in columns as SciPy has them."""
        return (self.states if self.t_eval is None else self.at(self.t)[1]).T

    def plot(self, axes: Any = None) -> Any:
        """Plot all states over time, broken at events; needs matplotlib. Returns the axes."""
        if axes is None:
            from matplotlib import pyplot

            axes = pyplot.subplots()[1]
        breaks = np.flatnonzero(np.diff(self.times) == 0.0) + 1
        axes.plot(np.insert(self.times, breaks, np.nan), np.insert(self.states, breaks, np.nan, 0))
        axes.set_xlabel("time [s]")
        return axes

    @property
    def final_mode(self) -> int:
        """Mode at the end."""
        return self.record.end[0]

    @property
    def final_time(self) -> float:
        """Time at the end [s]."""
        return self.record.end[1]

    @property
    def final_state(self) -> Array:
        """State (n,) at the end."""
        return self.record.end[2]

    @property
    def times(self) -> Array:
        """Times (K,) of ``states`` [s]; the time of an event stands twice."""
        return self._samples[0]

    @property
    def states(self) -> Array:
        """States (K, n) to plot, before and after each event; NaN beyond a mode's dimension."""
        return self._samples[1]

    @property
    def modes(self) -> Integers:
        """Mode (K,) of each of the states."""
        return self._samples[2]

    def saltation(self, i: int) -> Saltation:
        """Saltation matrix of event i, (3.2)."""
        event = self.events[i]
        return saltation(self.system, event.transition, *event.at)

    @cached_property
    def derivatives(self) -> RunDerivatives:
        """Derivatives of the end and of the event times by the start, inputs and parameters.

        Raises:
            ValueError: the run did not reach the end of its duration.
        """
        if not self.ok:
            raise ValueError(f"the run has the status {self.status!r}: {self.message}")
        return self.derivatives_by()

    def derivatives_by(
        self, options: SimulationOptions | None = None, with_reset_jacobian: bool = False
    ) -> RunDerivatives:
        """``derivatives`` with options of their own, or D_x R for Xi; NaN where the run failed."""
        system, (mode, t, x) = self.system.with_parameters_as_inputs(), self.start
        count, sizes = len(self.inputs), (self.inputs.shape, len(self.system.parameters))
        path = PathDerivatives(
            system, mode, x, t, count, options, with_reset_jacobian=with_reset_jacobian,
            resolved=count > 1,
        )  # fmt: skip
        if not self.ok:
            undefined = np.full(path.D.shape[1], np.nan)
            path.event_times = [undefined] * len(self.events)
            path.D = np.tile(undefined, (len(self.final_state), 1))
            path.status, path.message = self.status, self.message
            return RunDerivatives.of(path, len(x), *sizes)
        edges = self.record.edge[self.record.edge != STEP]
        for u, end, begin in zip(self.inputs, self.ends, [t, *self.ends[:-1]], strict=True):
            v, last = np.concatenate((u, self.system.parameters)), end == self.ends[-1]
            events = [
                event._replace(transition=system.transitions[edge], input=v)
                for event, edge in zip(self.events, edges, strict=True)
                if begin <= event.time < end or (last and event.time == end)
            ]
            path.follow(events, v, end, self.final_state if last else self.at(end)[1])
        return RunDerivatives.of(path, len(x), *sizes)

    def at(self, t: Any) -> tuple[Any, Array]:
        """Mode and state (n,) at a time [s], or (K,) and (K, n) at times; at an event, after it.

        Raises:
            ValueError: the run does not reach that time.
        """
        if np.ndim(t):
            modes, states = (
                np.empty(len(t), np.int64),
                np.full((len(t), self.system.state_dim), np.nan),
            )
            for i, time in enumerate(t):
                modes[i], x = self.at(float(time))
                states[i, : len(x)] = x
            return modes, states
        if not self.start.time <= t <= self.final_time:
            raise ValueError(
                f"t = {t} s lies outside the run, which goes from {self.start.time} s to"
                f" {self.final_time} s (status {self.status!r}): ask within it, or simulate for"
                " longer"
            )
        row = bisect_right(self.record.time, t) - 1
        if row < 0 or t >= self.final_time:
            return (self.final_mode, self.final_state) if row >= 0 else self.start[::2]
        mode = int(self._modes[row])
        n = self.system.modes[mode].state_dim
        if self.record.edge[row] != STEP:
            return mode, self.record.after[row, :n].copy()
        return mode, self._inside(row, np.array([t]))[0, :n]

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """Segments of flow, one more than events."""
        rows, r, time = [], self.record, np.append(self.record.time, self.final_time)
        for a, b in pairwise([-1, *np.flatnonzero(r.edge != STEP).tolist(), len(r.edge)]):
            mode, t, x = self.start if a < 0 else (int(self._modes[a]), float(time[a]), r.after[a])
            n, steps = self.system.modes[mode].state_dim, slice(a + 1, b)
            states = np.array([x[:n], *r.after[steps, :n]])
            rows.append(Segment(mode, t, time[b], np.array([t, *r.ends[steps]]), states))
        return tuple(rows)

    @cached_property
    def _modes(self) -> Integers:
        """Mode of each row: that of a step, or that which an event led into."""
        modes, mode = np.empty(len(self.record.edge), np.int64), self.start.mode
        for row, edge in enumerate(self.record.edge):
            mode = mode if edge == STEP else self.system.transitions[edge].target
            modes[row] = mode
        return modes

    @cached_property
    def _samples(self) -> tuple[Array, Array, Integers]:
        n, r = self.system.state_dim, self.record
        start, first = np.full((1, n), np.nan), self.start.state
        start[0, : len(first)] = first
        times, states = [np.array([self.start.time])], [start]
        modes = [np.array([self.start.mode])]
        spacing, ends = (self.final_time - self.start.time) / POINTS, r.ends
        for row, edge in enumerate(r.edge):
            if edge == STEP:
                length = ends[row] - r.time[row]
                count = max(1, int(np.ceil(length / (spacing or 1.0))))
                t = r.time[row] + length * np.arange(1, count + 1) / count
                x = self._inside(row, t)
                t[-1], x[-1] = ends[row], r.after[row]
            else:
                t, x = r.time[row : row + 1], r.after[row : row + 1].copy()
            mode = int(self._modes[row])
            x[:, self.system.modes[mode].state_dim :] = np.nan
            times.append(t)
            states.append(x)
            modes.append(np.full(len(t), mode))
        return np.concatenate(times), np.concatenate(states), np.concatenate(modes)

    def _inside(self, row: int, t: Array) -> Array:
        """States (T, n) at times (T,) [s] within a step."""
        r, mode = self.record, self.system.modes[int(self._modes[row])]
        x, C = r.before[row], r.C[row]
        if mode.flow_map is not None:
            states, n = np.zeros((len(t), len(x))), mode.state_dim
            u = self.inputs[r.knot[row]]
            for i, time in enumerate(t):
                h = float(time - r.time[row])
                states[i, :n] = mode.flow_map.state(float(r.time[row]), x[:n], u, h)
            return states
        part = np.clip((t - r.time[row]) / r.span[row], 0.0, 1.0)[:, None]
        return dense_states(x, C, part)
