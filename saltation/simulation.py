"""Event-driven simulation of hybrid systems: flow, locate the event, reset, flow on (5.20)-(5.22).

One set of kernels simulates every system. They call functions that ``numba.njit`` has compiled
directly, and plain Python functions as callbacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from saltation import failure
from saltation.compiled import first_use
from saltation.compiled.limits import FULL, OK, RESOLUTION, STATUSES, STOPPED, Limits
from saltation.compiled.step import (
    CROWD,
    EDGE,
    OPENED,
    SPAN,
    STEP,
    STEPS,
    TIME,
    Log,
    course_from,
    proceed,
)
from saltation.compiled.system import callback_tables, is_compiled, native_tables
from saltation.events import Event, EventRecord, Status, Step
from saltation.held_inputs import Inputs, held_input, held_inputs
from saltation.options import SimulationOptions
from saltation.run import Record, Run, event_of
from saltation.systems import Array, System

MOST_TIMESTEPS = 2.0**52  # of a run without end
CALLS_A_ROW = 50  # of functions, about, which nobody counts where they are compiled
ROWS = 256  # steps and events that a log holds before it is emptied
Until = Callable[[EventRecord], bool]


def simulate(
    system: System,
    mode: int,
    x: ArrayLike,
    duration: float,
    inputs: Inputs = None,
    *,
    t: float = 0.0,
    timestep: float | None = None,
    options: SimulationOptions | None = None,
    until: Until | None = None,
    events: Sequence[Event] = (),
    t_eval: ArrayLike | None = None,
) -> Run:
    """Simulate for a duration [s] from the state x (n,) in a mode, and keep the trajectory.

    Without a timestep, flows and guards are looked at 200 times in the duration, or more often
    where that shows them to vary: what is over within less is not seen, unless ``max_step`` of the
    options is as short. With one, nothing is expected to vary within a timestep but smoothly.

    Args:
        system: the hybrid system.
        mode: number of the mode at the start.
        x: state at the start (n,).
        duration: how long [s]; infinite where ``until`` or a terminal event ends it.
        inputs: None for zeros; (m,) for a constant; (N, m), or a function of time [s], for an
            input that is held over each timestep.
        t: time at the start [s].
        timestep: length for which an input is held [s]; left out, the whole duration.
        options: accuracy and limits.
        until: ends the simulation after the first event for which it is true.
        events: functions whose zeros are found, see ``Run.watched``.
        t_eval: times (K,) [s] of ``Run.t`` and ``Run.y``; left out, as many as plots need.

    Returns:
        The run. Its status is "ok" at the end of the duration; ``message`` says of any other where
        it ended, why, and what to do:

        - "stopped" after the event of ``until`` or a terminal one, "no_event" where ``until`` never
          was true.
        - "zeno": ``zeno_events`` or ``max_events`` happened, and the state is that after them.
        - "grazing": a guard was met that does not fall there; the state is on it.
        - "inside_guard": the state is inside a guard, and stays there after the reset.
        - "ambiguous": two guards were met at one instant, and one is violated after the event.
        - "not_finite": a flow, guard or reset gave NaN, or the state ran away.
        - "too_stiff": the flow needs more integration steps than ``max_steps``, or too short ones.
        - "wrong_dimension": a flow or reset gave another dimension than its mode has.

    Raises:
        ValueError: the mode, a time, the state's or the inputs' shape do not fit the system.
    """
    simulation = _Simulation(system, mode, x, t, options, until, tuple(events), steps=True)
    status, message, used, ends = "ok", "", [], []
    u = held_input(system, None)
    if np.isinf(duration) and not (until or any(event.terminal for event in events)):
        raise ValueError("an infinite duration needs an end: give until, or a terminal event")
    if np.isinf(duration) and timestep is None:
        parts = _growing(system, simulation.start, inputs)
    else:
        length = duration if timestep is None else min(duration, MOST_TIMESTEPS * timestep)
        parts = held_inputs(system, inputs, t, length, timestep)
    for end, u in parts:
        used.append(u)
        ends.append(end)
        status, message = simulation.advance(end, u, timestep is None)
        if status != "ok":
            break
    if status == "ok" and until is not None:
        status, message = "no_event", failure.no_event(system, *simulation.place, u)
    whole = np.array(used) if used else u[None]
    record, watched = simulation.record()
    times = None if t_eval is None else np.array(t_eval, float)
    return Run(
        system, simulation.start, record, whole, np.array(ends), status, message, watched, times
    )


def simulate_step(
    system: System,
    mode: int,
    x: ArrayLike,
    duration: float,
    u: ArrayLike | None = None,
    t: float = 0.0,
    options: SimulationOptions | None = None,
) -> Step:
    """The end of a simulation with the input u (m,) held, (5.21) and (5.22); see ``simulate``."""
    u = held_input(system, u)
    if not 0.0 <= duration < np.inf:
        raise ValueError(
            f"a duration of {duration} s: events are only found forward in time; give a finite one"
        )
    simulation = _Simulation(system, mode, x, t, options, None, (), steps=False)
    status, message = simulation.advance(t + duration, u, True)
    mode, _, x = simulation.place
    events = simulation.record()[0].events(system, u[None])
    return Step(mode, x, events, status, message)


class Start(NamedTuple):
    """Start of a simulation."""

    mode: int
    time: float  # [s]
    state: Array  # (n,)


def _growing(system: System, start: Start, inputs: Inputs) -> Iterator[tuple[float, Array]]:
    """Ends [s] of parts of a run without end, each twice as long, and the input held."""
    u = held_input(system, inputs)  # type: ignore[arg-type]
    flow = np.abs(system.modes[start.mode].flow(start.time, start.state.copy(), u))
    moving = (flow > 0.0) & (start.state != 0.0)
    length = float(np.min(np.abs(start.state[moving]) / flow[moving], initial=np.inf))
    end, length = start.time, length if np.isfinite(length) else 1.0
    while np.isfinite(end + length):
        end, length = end + length, 2.0 * length
        yield end, u


class _Simulation:
    """A simulation under way."""

    def __init__(
        self, system: System, mode: int, x: ArrayLike, t: float,
        options: SimulationOptions | None, until: Until | None, events: tuple[Event, ...],
        steps: bool,
    ) -> None:  # fmt: skip
        system.outgoing(mode)
        state, n = np.array(x, float), system.modes[mode].state_dim
        if state.shape != (n,):
            raise ValueError(f"the state has shape {state.shape}; mode {mode} takes ({n},)")
        if not np.isfinite(t):
            raise ValueError(f"t = {t} s: give a finite time")
        self.start = Start(mode, t, state)
        self._system = watching = system.watching(events) if events else system
        self._until, self._events = until, events
        self._options = options or SimulationOptions()
        self._limits = Limits.of(self._options)
        self._tables = (native_tables if is_compiled(watching) else callback_tables)(watching)
        self._numbers = list(system.modes)
        padded = np.zeros(system.state_dim)
        padded[:n] = state
        index = self._numbers.index(mode)
        self._course = self._tables.call(course_from, index, float(t), padded, 0.0)
        self._log = Log.empty(ROWS, system.state_dim, steps)
        self._parts: list[Record] = []
        self._knot = -1
        self._watched = [
            event for event in events for mode in system.modes for _ in event.edges(mode)
        ]
        terminal = [event.terminal for event in self._watched]
        self._stop = np.array(terminal + [until is not None] * len(system.transitions), bool)

    @property
    def place(self) -> tuple[int, float, Array]:
        """Mode, time [s] and state (n,) that have been reached."""
        mode = self._numbers[self._course.mode[0]]
        n = self._system.modes[mode].state_dim
        return mode, float(self._course.clock[TIME]), self._course.state[:n].copy()

    def advance(self, end: float, u: Array, whole: bool) -> tuple[Status, str]:
        """Simulate until the time ``end`` [s] with the input u (m,) held: the whole run, or not."""
        self._knot += 1
        counts, clock = self._course.counts, self._course.clock
        clock[OPENED], clock[SPAN], code = clock[TIME], end - clock[TIME], FULL
        spacing = clock[SPAN] / RESOLUTION
        if not whole:
            counts[STEPS], counts[CROWD], spacing = 0, 0, np.inf
        while code in (FULL, STOPPED):
            code = self._tables.call(
                proceed, self._course, end, u, self._knot, spacing, self._stop, self._limits,
                self._log,
            )  # fmt: skip
            first_use.calls += CALLS_A_ROW * int(self._log.count[0])
            stopped = code == STOPPED and self._stops(u)
            self._parts.append(Record.of(self._log))
            self._log.count[0] = 0
            if problem := self._tables.callbacks.wrong_dimension():
                return "wrong_dimension", f"{failure.place(self._system, *self.place)}: {problem}"
            if stopped:
                return "stopped", ""
        if code == OK:
            return "ok", ""
        edge = int(self._course.counts[EDGE])
        message = failure.message(self._system, code, edge, *self.place, u, self._options)
        return STATUSES[code], message  # type: ignore[return-value]

    def record(self) -> tuple[Record, tuple[Record, ...]]:
        """All steps and events so far, and what was watched for."""
        whole, count = Record.joined(self._parts, self.place), len(self._watched)
        if not count:
            return whole, ()
        own = [[i for i, one in enumerate(self._watched) if one is e] for e in self._events]
        watched = tuple(whole.rows(np.isin(whole.edge, rows)) for rows in own)
        rest = whole.rows((whole.edge == STEP) | (whole.edge >= count))
        edges = np.where(rest.edge == STEP, STEP, rest.edge - count)
        return rest._replace(edge=edges), watched

    def _stops(self, u: Array) -> bool:
        row = int(self._log.count[0]) - 1
        if self._log.edge[row] < len(self._watched):
            return True
        event = event_of(self._system, self._log, row, u)
        return self._until is not None and bool(self._until(event))
