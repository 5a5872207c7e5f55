"""What event-selected integration says when it cannot go on: what happened, where, what to do."""

from __future__ import annotations

from hybrid.event_selected.machine import (
    CROSSINGS,
    GUARD,
    NOT_EVENT_SELECTED,
    NOT_FINITE,
    STEPS,
    TIME,
    TOO_STIFF,
    Machine,
)
from hybrid.event_selected.options import EssOptions
from hybrid.event_selected.system import EventSelectedSystem
from hybrid.failure import text


def message(system: EventSelectedSystem, machine: Machine, status: int, options: EssOptions) -> str:
    """One line for a status other than OK."""
    where = f"system {system.name} at t = {machine.clock[TIME]:.12g} s, x = {text(machine.x)}: "
    if status == NOT_FINITE:
        return where + (
            "f, h or the state after the next step is not finite,"
            f" f = {text(machine.slope)}, h = {text(machine.values)}; check what they divide by"
        )
    if status == TOO_STIFF:
        return where + (
            f"{machine.counts[STEPS]} steps taken, the most that are allowed; loosen the"
            " tolerances, or raise max_steps"
        )
    if status == NOT_EVENT_SELECTED:
        guard = int(machine.counts[GUARD])
        speed = system.events_state(machine.x, system.parameters)[guard] @ machine.slope
        return where + (
            f"behind guard {guard}, just crossed, h falls at {speed:.3g} per s: liveness,"
            " requirement (4), does not hold, and the flow is not event-selected there; such a"
            " state slides along the guard, or needs another event function"
        )
    return where + (
        f"{machine.counts[CROSSINGS]} guards crossed, the most that are allowed (max_crossings"
        f" {options.max_crossings}); if they are no Zeno behaviour, raise it"
    )
