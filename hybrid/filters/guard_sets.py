"""Where a mean meets the guard sets (4.2): those of g <= 0 that the flow enters, d/dt g < 0.

A measurement may carry a mean behind a guard that its flow is leaving, the ball below the floor on
its way up; and a mean that is not quite right may land there, a leg that is longer than at rest
when it touches down. Such a state is not in the guard set, and must come out before the guard
counts. The simulation by itself takes it for one that a reset or an input has put there, and jumps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hybrid.options import SimulationOptions
from hybrid.simulation import Event, Simulation
from hybrid.systems import Array, System, Transition


class Path(NamedTuple):
    """Where a mean went."""

    mode: int
    time: float  # reached [s]; before the end that was asked for where the simulation failed
    state: Array  # (n,)
    events: tuple[Event, ...]
    ok: bool


def follow(
    system: System,
    mode: int,
    t: float,
    x: Array,
    u: Array,
    end: float,
    options: SimulationOptions,
    leaving: Sequence[Transition] = (),
) -> Path:
    """Simulate from t to ``end`` [s], line 4 of Algorithm 1, with the input u (m,) held.

    The transitions ``leaving`` do not happen before their guards have been left, nor does one that
    would lead back at once to the mode from which the mean has just come.
    """
    waiting, events = list(leaving), ()
    while True:
        exits = [_exit(edge) for edge in waiting]

        def stops(event: Event, waiting: list = waiting, exits: list = exits) -> bool:
            turned_back = _turned_back(system, event, u, options)
            return event.transition in exits or any(e not in waiting for e in turned_back)

        simulation = Simulation(_replaced(system, waiting, exits), mode, t, x, options, stops)
        step = simulation.advance(end, u)
        events += tuple(event for event in step.events if event.transition not in exits)
        mode, t, x = step.mode, simulation.t, step.state
        if step.status != "stopped" or len(events) > options.max_events:
            return Path(mode, t, x, events, step.status == "ok")
        last = step.events[-1]
        if last.transition in exits:
            del waiting[exits.index(last.transition)]
        waiting += (e for e in _turned_back(system, last, u, options) if e not in waiting)


def entered(
    system: System, mode: int, t: float, x: Array, u: Array, options: SimulationOptions
) -> Transition | None:
    """The first transition whose guard set (4.2) holds the state; at any depth."""
    for edge in system.outgoing(mode):
        if edge.guard(t, x, u) <= 0.0:
            if system.guard_rate(edge, t, x, u) < -options.minimum_rate:
                return edge
    return None


def being_left(
    system: System, mode: int, t: float, x: Array, u: Array, options: SimulationOptions
) -> tuple[Transition, ...]:
    """Transitions whose guards the state is deep inside, and not entering."""
    return tuple(
        edge
        for edge in system.outgoing(mode)
        if edge.guard(t, x, u) < -options.guard_tolerance
        and not system.guard_rate(edge, t, x, u) < -options.minimum_rate
    )


def transitions_at(
    system: System,
    mode: int,
    t: float,
    x: Array,
    u: Array,
    options: SimulationOptions,
    first: Transition | None = None,
) -> tuple[Event, ...]:
    """Events at one instant from the state x (n,): that of ``first`` if given, then all of (4.2).

    They end with the return to a mode, lest two guards that both hold the state take turns.
    """
    events, seen = [], {mode}
    edge = entered(system, mode, t, x, u, options) if first is None else first
    while edge is not None:
        after = np.asarray(edge.reset(t, x.copy(), u), dtype=np.float64)
        events.append(Event(edge, t, x, after))
        x, mode = after, edge.target
        if mode in seen or not np.isfinite(x).all():
            break
        seen.add(mode)
        edge = entered(system, mode, t, x, u, options)
    return tuple(events)


def _turned_back(
    system: System, event: Event, u: Array, options: SimulationOptions
) -> tuple[Transition, ...]:
    """Transitions back to where an event came from, whose guards its reset landed in by mistake."""
    edge, t, x = event.transition, event.time, event.state_after
    leaving = being_left(system, edge.target, t, x, u, options)
    return tuple(back for back in leaving if back.target == edge.source != edge.target)


def _exit(edge: Transition) -> Transition:
    """The event at which a guard is left: its value rises through zero and nothing changes."""
    return Transition(
        edge.source,
        edge.source,
        guard=lambda t, x, u: -edge.guard(t, x, u),
        reset=lambda t, x, u: x,
        guard_state=lambda t, x, u: -edge.guard_state(t, x, u),
        guard_time=lambda t, x, u: -edge.guard_time(t, x, u),
        name=f"end of {edge.name}",
    )


def _replaced(
    system: System, edges: Sequence[Transition], others: Sequence[Transition]
) -> System:
    """The system with other transitions in the places of some."""
    if not edges:
        return system
    instead = {id(edge): other for edge, other in zip(edges, others, strict=True)}
    transitions = tuple(instead.get(id(edge), edge) for edge in system.transitions)
    return System(system.modes, transitions, system.name)
