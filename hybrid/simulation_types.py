"""What goes into an event-driven simulation and comes out of it."""

from __future__ import annotations

from typing import Literal, NamedTuple

from hybrid.systems import Array, Transition

Status = Literal[
    "ok", "zeno", "not_finite", "too_stiff", "grazing", "wrong_dimension", "stopped", "no_event"
]


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
