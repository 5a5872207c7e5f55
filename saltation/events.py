"""Events to watch for, events as they happened, and how simulations end."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from numba import njit

from saltation.mode import same_state
from saltation.systems import Array, ScalarFunction, Transition

Status = Literal[
    "ok", "stopped", "no_event", "zeno", "grazing", "inside_guard", "ambiguous", "not_finite",
    "wrong_dimension", "too_stiff",
]  # fmt: skip


class Event(NamedTuple):
    """A function g(t, x, u) whose zeros a simulation finds, in every mode, and changes nothing at.

    Raises in ``simulate``:
        ValueError: the direction is none of -1, 0 and 1.
    """

    guard: ScalarFunction
    direction: int = 0  # -1: where g falls through zero, 1: where it rises, 0: both
    terminal: bool = False  # ends the simulation

    def edges(self, mode: int) -> list[Transition]:
        """Transitions of a mode that kernels watch for, in place of this."""
        if self.direction not in (-1, 0, 1):
            raise ValueError(f"direction {self.direction!r} of an event: give -1, 0 or 1")
        sides = [self.guard] * (self.direction <= 0)
        sides += [opposite(self.guard)] * (self.direction >= 0)
        return [Transition(mode, mode, g, same_state, on="edge", watch=True) for g in sides]


def opposite(guard: Any) -> ScalarFunction:
    """-g, compiled where g is."""

    def negative(t: float, x: Array, u: Array) -> float:
        return -guard(t, x, u)

    return njit(negative) if hasattr(guard, "py_func") else negative


class EventRecord(NamedTuple):
    """One transition, as it happened."""

    transition: Transition
    time: float  # [s]
    state_before: Array  # x(t-) (n_source,)
    state_after: Array  # x(t+) (n_target,)
    input: Array  # u (m,), held at that time

    @property
    def at(self) -> tuple[float, Array, Array]:
        """Arguments (t, x, u) of functions at the event, before its reset."""
        return self.time, self.state_before, self.input


class Step(NamedTuple):
    """End of one timestep, and the events within it in order of time."""

    mode: int
    state: Array
    events: tuple[EventRecord, ...]
    status: Status
    message: str = ""  # what went wrong, where, and what to do; "" when ok
