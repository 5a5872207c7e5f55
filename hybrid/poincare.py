"""Poincare sections and return maps of hybrid systems (3.4.3).

A system that does not depend on time is cut by an event: the section is the set of states just
after a transition, of dimension n - 1. One that is driven with a period is cut by the clock: the
section is the phase, and the return map is in all n coordinates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybrid.simulation import Event, SimulationOptions, simulate_step
from hybrid.systems import Array, HybridSystem
from hybrid.variational import held_input

_PARTS = 50  # of a time limit, simulated one after the other until the section is met


class EventSection(NamedTuple):
    """The state just after a transition happened for the ``count``-th time; no time dependence."""

    transition: str  # its name
    count: int = 1
    time_limit: float = 10.0  # [s]; no event within it: there is no return


class PhaseSection(NamedTuple):
    """The state at time ``start`` [s] and one period [s] later, of a system driven periodically."""

    start: float
    period: float


Section = EventSection | PhaseSection


class Return(NamedTuple):
    """Where a state came back to the section; status "ok", or why it did not."""

    mode: int
    state: Array  # P(x) (n,)
    duration: float  # [s]
    events: tuple[Event, ...]  # up to and with the one that makes the section
    status: str
    message: str = ""


def return_map(
    system: HybridSystem,
    section: Section,
    mode: int,
    x: Array,
    u: Array | None = None,
    options: SimulationOptions | None = None,
) -> Return:
    """P(x): flow from x (n,) in a mode, with the input held, until the section is met again.

    Status "no_return" where the event did not happen within its time limit, "other_mode" where the
    clock's section is met in another mode than it was left in; else the simulation's.

    Raises:
        ValueError: the section names a transition that the system has not.
    """
    x = np.asarray(x, dtype=np.float64)
    if isinstance(section, PhaseSection):
        return _return_to_phase(system, section, mode, x, u, options)
    names = sorted({edge.name for edge in system.transitions})
    if section.transition not in names:
        raise ValueError(
            f"the section names transition {section.transition!r}; the system has {names}: use one"
            " of these, or name the transition"
        )
    return _return_to_event(system, section, mode, x, u, options)


def _return_to_phase(
    system: HybridSystem,
    section: PhaseSection,
    mode: int,
    x: Array,
    u: Array | None,
    options: SimulationOptions | None,
) -> Return:
    held = held_input(system, mode, u)
    step = simulate_step(system, mode, section.start, x, held, section.period, options)
    status, message = step.status, ""
    if status != "ok":
        message = _where(system, step.status, step.mode, section.start, step.state)
    elif step.mode != mode:
        status = "other_mode"
        when = section.start + section.period
        message = _where(system, f"left mode {mode} and came back", step.mode, when, step.state)
    return Return(step.mode, step.state, section.period, step.events, status, message)


def _return_to_event(
    system: HybridSystem,
    section: EventSection,
    mode: int,
    x: Array,
    u: Array | None,
    options: SimulationOptions | None,
) -> Return:
    held, events, missing = held_input(system, mode, u), [], section.count
    duration = section.time_limit / _PARTS
    for part in range(_PARTS):
        step = simulate_step(system, mode, part * duration, x, held, duration, options)
        for event in step.events:
            events.append(event)
            missing -= event.transition.name == section.transition
            if missing == 0:
                end = event.transition.target
                return Return(end, event.state_after, event.time, tuple(events), "ok")
        mode, x = step.mode, step.state
        if step.status != "ok":
            message = _where(system, step.status, mode, part * duration, x)
            return Return(mode, x, part * duration, tuple(events), step.status, message)
    times = section.count - missing
    problem = f"transition {section.transition!r} happened {times} of {section.count} times"
    message = _where(system, problem, mode, section.time_limit, x)
    return Return(mode, x, section.time_limit, tuple(events), "no_return", message)


def _where(system: HybridSystem, problem: str, mode: int, t: float, x: Array) -> str:
    return f"{problem}: in mode {mode} ({system.modes[mode].name}) by t = {t:.9g} s at x = {x}"
