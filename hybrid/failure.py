"""What a simulation says when it cannot go on: what happened, where, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hybrid.options import SimulationOptions
from hybrid.simulation_types import Event
from hybrid.systems import Array, Mode, System, Transition


def place(system: System, mode: int, t: float, x: Array) -> str:
    """Name of the mode, its number, time and state: "in mode falling (1) at t = ..., x = ..."."""
    return f"in mode {system.modes[mode].name} ({mode}) at t = {t:.12g} s, x = {text(x)}"


def text(x: Array) -> str:
    """A state in short."""
    return np.array2string(np.asarray(x), precision=6, separator=", ", threshold=40)


def no_event(system: System, mode: int, t: float, x: Array, u: Array) -> str:
    """The event that was to end a simulation did not come; says how far each guard was."""
    guards = [f"{edge.label} {edge.guard(t, x, u):.6g}" for edge in system.outgoing(mode)]
    values = "its guards are " + ", ".join(guards) if guards else "no transition leaves it"
    return (
        f"{place(system, mode, t, x)}: the event to stop after has not come; {values}; simulate"
        " for longer, or check the signs of the guards (positive inside the mode) and ``until``"
    )


def too_stiff(options: SimulationOptions) -> str:
    """More integration steps than allowed."""
    return (
        f"one timestep needs more than {options.max_steps} integration steps; if the flow does"
        " not run away there, loosen the tolerance, raise max_steps or shorten the timestep"
    )


def zeno(events: Sequence[Event]) -> str:
    """More events than allowed."""
    span = f" within {events[-1].time - events[0].time:.3g} s" if events else ""
    return (
        f"{len(events)} events{span}, the most that one timestep may have; if they are no Zeno"
        " behaviour, raise max_events or shorten the timestep, else add a mode that rests"
    )


def grazing(edge: Transition, rate: float) -> str:
    """A guard met without transversality, (3.11)."""
    return (
        f"the trajectory grazes the guard of {edge.label} (rate {rate:.3g} per s), so what follows"
        " does not depend smoothly on the state; start a little off, or add a mode in which the"
        " contact lasts"
    )


def guard_not_finite(edge: Transition) -> str:
    """NaN from a guard or its derivatives."""
    return (
        f"the guard of {edge.label}, or its derivative, is not finite; it must be finite in the"
        " whole mode and a little beyond its zero"
    )


def flow_not_finite(rate: Array) -> str:
    """NaN from a flow, or a state that ran away; ``rate`` is F (n,) at the last good state."""
    if not np.isfinite(rate).all():
        return f"the flow is not finite there, F = {text(rate)}; check what it divides by"
    return (
        f"the flow gives a state that is not finite soon after, from F = {text(rate)}; it is not"
        " defined there or runs away: add a guard before, or bound it"
    )


def reset_not_finite(edge: Transition, after: Array) -> str:
    """NaN from a reset."""
    return f"the reset of {edge.label} is not finite, R = {text(after)}; check what it divides by"


def flow_dimension(mode: Mode, x: Array, rate: Array) -> str:
    """A flow, or a state, of another dimension than its mode's."""
    return (
        f"the mode has dimension {mode.state_dim}, the state has shape {np.shape(x)} and the flow"
        f" {np.shape(rate)}; both must be ({mode.state_dim},)"
    )


def reset_dimension(edge: Transition, target: Mode, after: Array) -> str:
    """A reset of another dimension than the mode that it leads to."""
    return (
        f"the reset of {edge.label} has shape {np.shape(after)}; mode {target.name} takes"
        f" ({target.state_dim},): return that, or correct its state_dim"
    )
