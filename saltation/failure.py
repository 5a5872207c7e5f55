"""Messages of a simulation that cannot go on: what happened, where, and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np

from saltation.compiled.limits import (
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
from saltation.options import SimulationOptions
from saltation.systems import Array, System

_TEXTS = {
    TOO_STIFF: "one timestep, or the run, needs more than {options.max_steps} integration steps, or"
    " even the shortest makes too large an error; if the flow does not run away there, take"
    " method='implicit', loosen the tolerances or raise max_steps",
    ZENO: "{options.zeno_events} events in one timestep or a 10,000th of the run, or"
    " {options.max_events} in all; if they are no Zeno behaviour, raise zeno_events or max_events,"
    " else give a transition into a mode of rest, Transition(..., rest=True)",
}
_TEXTS_OF_TRANSITIONS = {
    GRAZING: "the trajectory grazes the guard of {edge.label} (rate {rate:.3g} per s), so what"
    " follows does not depend smoothly on the state; start a little off, or add a mode in which the"
    " contact lasts",
    GUARD_NOT_FINITE: "the guard of {edge.label}, or its derivative, is not finite; it must be"
    " finite in the whole mode and a little beyond its zero",
    RESET_NOT_FINITE: "the reset of {edge.label} is not finite, R = {reset}; check what it divides"
    " by",
    INSIDE_GUARD: "the state is inside the guard of {edge.label}, whose reset leaves it inside;"
    " start outside of it, or on it (deeper than guard_tolerance is inside), or correct the reset",
    AMBIGUOUS: "the guard of {edge.label} was met at the same instant as that of the transition"
    " taken, and is violated after it; add a transition for both, or one from the mode then"
    " entered",
    WRONG_DIMENSION: "the reset of {edge.label} has another dimension than mode {edge.target}"
    " takes",
}


def message(
    system: System, code: int, edge: int, mode: int, t: float, x: Array, u: Array,
    options: SimulationOptions | None = None,
) -> str:  # fmt: skip
    """Message for a code of ``saltation.compiled.limits``, "" for one that is no failure.

    ``edge`` is the index of the transition that it is about; the place is where it ended.
    """
    if code == NOT_FINITE:
        try:
            slope = np.asarray(system.modes[mode].flow(t, x, u))
        except ArithmeticError:  # which counts as NaN
            slope = np.full(len(x), np.nan)
        reason = (
            f"the flow gives a state that is not finite soon after, from F = {text(slope)}; it is"
            " not defined there or runs away: add a guard before, or bound it"
        )
        if not np.isfinite(slope).all():
            reason = f"the flow is not finite there, F = {text(slope)}; check what it divides by"
    elif code in _TEXTS:
        reason = _TEXTS[code].format(options=options or SimulationOptions())
    elif code in _TEXTS_OF_TRANSITIONS and 0 <= edge < len(system.transitions):
        e = system.transitions[edge]
        values: dict[str, Any] = {"edge": e}
        if code == GRAZING:
            values["rate"] = system.guard_rate(e, t, x, u)
        elif code == RESET_NOT_FINITE:
            values["reset"] = text(np.asarray(e.reset(t, np.array(x), u)))
        reason = _TEXTS_OF_TRANSITIONS[code].format(**values)
    else:
        return ""
    return f"{place(system, mode, t, x)}: {reason}"


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
