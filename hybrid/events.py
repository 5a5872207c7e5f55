"""Events of hybrid systems, as they happened, and how simulations end."""

from __future__ import annotations

from typing import Literal, NamedTuple

from hybrid.systems import Array, Transition

Status = Literal[
    "ok", "stopped", "no_event", "zeno", "grazing", "inside_guard", "ambiguous", "not_finite",
    "wrong_dimension", "too_stiff",
]  # fmt: skip


class Event(NamedTuple):
    """One transition, as it happened."""

    transition: Transition
    time: float  # [s]
    state_before: Array  # x(t-) (n_source,)
    state_after: Array  # x(t+) (n_target,)
    input: Array  # u (m,), held at that time


class Step(NamedTuple):
    """End of one timestep, and the events within it in order of time."""

    mode: int
    state: Array
    events: tuple[Event, ...]
    status: Status
    message: str = ""  # what went wrong, where, and what to do; "" when ok
