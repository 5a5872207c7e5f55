"""What goes into an event-driven simulation and comes out of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from hybrid.integration import Tolerance
from hybrid.systems import Array, Transition

Status = Literal[
    "ok", "zeno", "not_finite", "too_stiff", "grazing", "wrong_dimension", "stopped", "no_event"
]


@dataclass(frozen=True)
class SimulationOptions:
    """Accuracy of event-driven simulation."""

    tolerance: Tolerance = field(default_factory=Tolerance)
    event_time_tolerance: float = 1e-13  # [s]
    guard_tolerance: float = 1e-9  # deeper inside a guard than this, its transition fires at once;
    # a guard that turns this close to zero is grazed
    max_events: int = 20  # in one timestep; more are taken for Zeno behaviour
    minimum_rate: float = 1e-9  # slowest fall of a guard that is transverse [units of g per s]


class Event(NamedTuple):
    """One transition, as it happened."""

    transition: Transition
    time: float  # [s]
    state_before: Array  # x(t-) (n_source,)
    state_after: Array  # x(t+) (n_target,)


class Step(NamedTuple):
    """End of one timestep, and the events within it in order of time."""

    mode: int
    state: Array
    events: tuple[Event, ...]
    status: Status
    message: str = ""  # what went wrong, where, and what to do; "" when ok
