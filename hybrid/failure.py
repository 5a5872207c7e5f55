"""Messages of a simulation that cannot go on: what happened, where, and what to do."""

from __future__ import annotations

import numpy as np

from hybrid.compiled.limits import (
    AMBIGUOUS,
    GRAZING,
    GUARD_NOT_FINITE,
    INSIDE_GUARD,
    NOT_FINITE,
    RESET_NOT_FINITE,
    TOO_STIFF,
    WRONG_DIMENSION,
    ZENO,
)
from hybrid.options import SimulationOptions
from hybrid.systems import Array, System, Transition


def message(
    system: System, code: int, edge: int, mode: int, t: float, x: Array, u: Array,
    options: SimulationOptions | None = None,
) -> str:  # fmt: skip
    """Message for a code of ``hybrid.compiled.limits``, "" for one that is no failure.

    ``edge`` is the index of the transition that it is about; the place is where it ended.
    """
    options, edges = options or SimulationOptions(), system.transitions
    e = edges[edge] if 0 <= edge < len(edges) else None
    if code == TOO_STIFF:
        text = too_stiff(options)
    elif code == ZENO:
        text = zeno(options)
    elif code == NOT_FINITE:
        text = flow_not_finite(np.asarray(system.modes[mode].flow(t, x, u)))
    elif e is None:
        return ""
    elif code == GRAZING:
        text = grazing(e, system.guard_rate(e, t, x, u))
    elif code == GUARD_NOT_FINITE:
        text = guard_not_finite(e)
    elif code == RESET_NOT_FINITE:
        text = reset_not_finite(e, np.asarray(e.reset(t, np.array(x), u)))
    elif code == INSIDE_GUARD:
        text = inside_guard(e)
    elif code == AMBIGUOUS:
        text = ambiguous(e)
    elif code == WRONG_DIMENSION:
        text = f"the reset of {e.label} has another dimension than mode {e.target} takes"
    else:
        return ""
    return f"{place(system, mode, t, x)}: {text}"


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
        f"one timestep, or one second, needs more than {options.max_steps} integration steps; if"
        " the flow does not run away there, take method='implicit', loosen the tolerances or raise"
        " max_steps"
    )


def zeno(options: SimulationOptions) -> str:
    """More events than allowed."""
    return (
        f"{options.max_events} events, the most that one timestep or one second may have; if they"
        " are no Zeno behaviour, raise max_events or shorten the timestep, else give a transition"
        " into a mode of rest, Transition(..., rest=True)"
    )


def inside_guard(edge: Transition) -> str:
    """A state inside a guard whose reset does not lead out of it."""
    return (
        f"the state is inside the guard of {edge.label}, whose reset leaves it inside; start"
        " outside of it, or on it (deeper than guard_tolerance is inside), or correct the reset"
    )


def ambiguous(edge: Transition) -> str:
    """Two guards met at one instant that lead to different modes."""
    return (
        f"the guard of {edge.label} was met at the same instant as that of the transition taken,"
        " and is violated after it; add a transition for both, or one from the mode then entered"
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
