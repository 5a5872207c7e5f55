"""Executions of hybrid systems: whole trajectories, to be asked for the state at any time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hybrid import failure
from hybrid.held_inputs import Inputs, held_inputs
from hybrid.options import SimulationOptions
from hybrid.piece import Piece
from hybrid.simulation import Event, Simulation, Status
from hybrid.systems import Array, System


@dataclass(frozen=True)
class Segment:
    """Flow in one mode, between two events; it may last no time at all."""

    mode: int
    start: float  # [s]
    end: float  # [s]
    times: Array  # (K,) ends of the integration steps [s]
    states: Array  # (K, n)
    pieces: tuple[Piece, ...]  # (K - 1,) the integration steps

    def at(self, t: float) -> Array:
        """State (n,) at a time [s] within the segment."""
        if not self.pieces or t >= self.end:
            return self.states[-1]
        i = bisect_right(self.times, t) - 1  # type: ignore[arg-type]
        return self.pieces[max(i, 0)].at(t)


@dataclass(frozen=True)
class Execution:
    """A trajectory of a hybrid system: segments of flow, with an event between each two."""

    mode: int  # at the start
    state: Array  # at the start (n,)
    segments: tuple[Segment, ...]
    events: tuple[Event, ...]
    status: Status
    message: str = ""

    @property
    def final_mode(self) -> int:
        """Mode at the end."""
        return self.segments[-1].mode

    @property
    def final_state(self) -> Array:
        """State (n,) at the end."""
        return self.segments[-1].states[-1]

    @property
    def final_time(self) -> float:
        """Time at the end [s]."""
        return self.segments[-1].end

    def at(self, t: float) -> tuple[int, Array]:
        """Mode and state (n,) at a time [s]; at an event, those after it.

        Raises:
            ValueError: the execution does not reach that time.
        """
        first, last = self.segments[0].start, self.final_time
        if not first <= t <= last:
            raise ValueError(
                f"t = {t} s lies outside the execution, which goes from {first} s to {last} s"
                f" (status {self.status!r}): ask within it, or simulate for longer"
            )
        i = bisect_right(self.segments, t, key=lambda segment: segment.start) - 1
        return self.segments[i].mode, self.segments[i].at(t)


def simulate(
    system: System,
    mode: int,
    x: Array,
    duration: float,
    inputs: Inputs = None,
    *,
    t: float = 0.0,
    timestep: float | None = None,
    options: SimulationOptions | None = None,
    until: Callable[[Event], bool] | None = None,
) -> Execution:
    """Simulate for a duration [s] from the state x (n,) in a mode, and keep the trajectory.

    Args:
        system: the hybrid system.
        mode: number of the mode at the start.
        x: state at the start (n,).
        duration: how long [s].
        inputs: None for zeros; (m,) for a constant; (N, m), or a function of time [s], for an
            input that is held over each timestep.
        t: time at the start [s].
        timestep: length for which an input is held [s]; left out, the whole duration.
        options: accuracy; its ``max_events`` counts within one timestep.
        until: ends the simulation after the first event for which it is true.

    Returns:
        The execution. Its status is "ok" at the end of the duration, "stopped" after the event of
        ``until``, "no_event" where that never came, else as of ``simulate_step``; the message then
        says where it ended, why, and what to do.

    Raises:
        ValueError: the mode, a length of time, or the inputs do not fit the system.
    """
    x = np.asarray(x, dtype=np.float64)
    record: list[Piece | Event] = []
    run = Simulation(system, mode, t, x, options or SimulationOptions(), until, record)
    status, message, u = "ok", "", np.empty(0)
    for end, u in held_inputs(system, inputs, t, duration, timestep):
        _, _, _, status, message = run.advance(end, u)
        if status != "ok":
            break
    if status == "ok" and until is not None:
        status, message = "no_event", failure.no_event(system, run.mode, run.t, run.x, u)
    events = tuple(part for part in record if isinstance(part, Event))
    return Execution(mode, x, _segments((mode, t, x), record, run.t), events, status, message)


def _segments(
    start: tuple[int, float, Array], record: list[Piece | Event], end: float
) -> tuple[Segment, ...]:
    """Split a record that starts in a (mode, time, state) at its events."""
    found, pieces = [], []
    for part in record:
        if isinstance(part, Piece):
            pieces.append(part)
        else:
            found.append(_segment(start, pieces, part.time))
            start, pieces = (part.transition.target, part.time, part.state_after), []
    return (*found, _segment(start, pieces, end))


def _segment(start: tuple[int, float, Array], pieces: list[Piece], end: float) -> Segment:
    mode, t, x = start
    times = [piece.time for piece in pieces] + [end]
    states = np.stack([x] + [piece.end for piece in pieces])
    return Segment(mode, t, end, np.array(times), states, tuple(pieces))
