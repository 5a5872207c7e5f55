"""Event-driven simulation of hybrid systems: flow, locate the event, reset, flow on (5.20)-(5.22).

Within each integration step the first guard that is met is located (``hybrid.event_location``) by
repeating the step with a shorter length, so the event time is as accurate as the integrator.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hybrid import failure
from hybrid.event_location import Meeting, first_meeting
from hybrid.options import SimulationOptions
from hybrid.piece import Piece, finite, take_piece
from hybrid.simulation_types import Event, Status, Step
from hybrid.systems import Array, System, Transition

__all__ = ["Event", "Simulation", "SimulationOptions", "Status", "Step", "simulate_step"]
_DEFAULT = SimulationOptions()


def simulate_step(
    system: System,
    mode: int,
    t: float,
    x: Array,
    u: Array,
    duration: float,
    options: SimulationOptions | None = None,
) -> Step:
    """Simulate one timestep with the input held, (5.21) and (5.22), for any number of events.

    Args:
        system: the hybrid system.
        mode: number of the mode at the start.
        t: time at the start [s].
        x: state at the start (n,).
        u: input (m,).
        duration: length of the timestep [s].
        options: accuracy.

    Returns:
        The end of the timestep; where the status is not "ok", what was reached:

        - "zeno": ``max_events`` happened, and the state is the one after the last of them.
        - "grazing": a guard was met at a rate above ``-minimum_rate``; the state is on it.
        - "not_finite": a flow, guard or reset gave NaN, or the state ran away.
        - "too_stiff": the flow needed more integration steps than its tolerance allows.
        - "wrong_dimension": a flow or reset gave another dimension than its mode has.

        ``message`` then says which, where, and what to do.

    Raises:
        ValueError: the duration is negative, or there is no such mode.
    """
    if not 0.0 <= duration < np.inf:
        raise ValueError(
            f"a timestep of {duration} s: events are only found forward in time; give a finite one"
        )
    start = np.asarray(x, dtype=np.float64)
    return Simulation(system, mode, t, start, options or _DEFAULT).advance(t + duration, u)


class Simulation:
    """A simulation under way: what one timestep hands to the next."""

    __slots__ = ("system", "mode", "t", "x", "_options", "_until", "_record", "_events", "_failure")

    def __init__(
        self,
        system: System,
        mode: int,
        t: float,
        x: Array,
        options: SimulationOptions,
        until: Callable[[Event], bool] | None = None,
        record: list[Piece | Event] | None = None,
    ) -> None:
        """Start in a mode at time t [s] and state x (n,); stop after an event where ``until``.

        Pieces of flow and events are appended to ``record`` in order of time.
        """
        self.system, self.mode, self.t, self.x = system, mode, t, x
        self._options, self._until, self._record = options, until, record
        self._events: list[Event] = []
        self._failure: tuple[Status, str] | None = None

    def advance(self, end: float, u: Array) -> Step:
        """Simulate until the time ``end`` [s] with the input u (m,) held."""
        self._events, h = [], end - self.t
        for _ in range(self._options.max_steps):
            if self._failure is not None or self.t >= end:
                break
            edges, guards, edge, positive = self.system.outgoing(self.mode), [], None, True
            for other in edges:
                value = other.guard(self.t, self.x, u)
                guards.append(value)
                positive = positive and value > 0.0
            if not positive:
                edge = self._fired_at_once(edges, guards, u)
            if edge is None and self._failure is None:
                edge, h = self._flow(edges, guards, u, end, h)
            if edge is not None:
                self._jump(edge, u)
                h = end - self.t
        if self._failure is None and self.t < end:
            self._fail("too_stiff", failure.too_stiff(self._options))
        status, message = self._failure or ("ok", "")
        return Step(self.mode, self.x, tuple(self._events), status, message)

    def _fired_at_once(
        self, edges: tuple[Transition, ...], guards: list[float], u: Array
    ) -> Transition | None:
        """Transition whose guard the state is in: deep inside, or on it and moving in."""
        for edge, value in zip(edges, guards, strict=True):
            if value > 0.0:
                continue
            if value < -self._options.guard_tolerance:
                return edge
            rate = self.system.guard_rate(edge, self.t, self.x, u)
            if rate < -self._options.minimum_rate:
                return edge
            if value != value or rate != rate:
                self._fail("not_finite", failure.guard_not_finite(edge))
                return None
        return None

    def _flow(
        self, edges: tuple[Transition, ...], guards: list[float], u: Array, end: float, h: float
    ) -> tuple[Transition | None, float]:
        """One integration step, cut at the first guard met: its transition, and the next h [s]."""
        flow, left, x = self.system.modes[self.mode], end - self.t, self.x
        piece, h = take_piece(flow, self.t, x, u, min(h, left), self._options)
        if piece.end.shape != x.shape or len(x) != flow.state_dim:
            self._fail("wrong_dimension", failure.flow_dimension(flow, x, piece.end))
            return None, h
        if not finite(piece.end):
            self._fail("not_finite", failure.flow_not_finite(flow.flow(self.t, x, u)))
            return None, h
        met = first_meeting(self.system, edges, piece, guards, self._options)
        if met is not None:
            return self._meet(piece, met), h
        if self._record is not None:
            self._record.append(piece)
        self.x, self.t = piece.end, end if piece.length == left else self.t + piece.length
        return None, h

    def _meet(self, piece: Piece, met: Meeting) -> Transition | None:
        """Flow up to a guard: its transition, if it is crossed there as it should be (3.11)."""
        edge, options = met.transition, self._options
        piece = piece.made_with(met.length)
        if self._record is not None:
            self._record.append(piece)
        self.x, self.t = piece.end, piece.time + piece.length
        rate = self.system.guard_rate(edge, self.t, self.x, piece.input)
        if met.kind == "not_finite" or rate != rate:
            self._fail("not_finite", failure.guard_not_finite(edge))
        elif met.kind == "grazed" or not rate < -options.minimum_rate:
            self._fail("grazing", failure.grazing(edge, rate))
        else:
            return edge
        return None

    def _jump(self, edge: Transition, u: Array) -> None:
        """Reset, and record the event."""
        if len(self._events) == self._options.max_events:
            self._fail("zeno", failure.zeno(self._events))
            return
        after = np.asarray(edge.reset(self.t, self.x.copy(), u), dtype=np.float64)
        target = self.system.modes[edge.target]
        if after.shape != (target.state_dim,):
            self._fail("wrong_dimension", failure.reset_dimension(edge, target, after))
        elif not finite(after):
            self._fail("not_finite", failure.reset_not_finite(edge, after))
        else:
            event = Event(edge, self.t, self.x, after)
            self._events.append(event)
            if self._record is not None:
                self._record.append(event)
            self.x, self.mode = after, edge.target
            if self._until is not None and self._until(event):
                self._failure = ("stopped", "")

    def _fail(self, status: Status, text: str) -> None:
        where = failure.place(self.system, self.mode, self.t, self.x)
        self._failure = (status, f"{where}: {text}")
