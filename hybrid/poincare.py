"""Poincare sections and return maps of hybrid systems (3.4.3).

A system that does not depend on time is cut by an event: the section is the set of states just
after a transition, of dimension n - 1. One that is driven with a period is cut by the clock: the
section is the phase, and the return map is in all n coordinates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybrid import failure
from hybrid.held_inputs import held_input
from hybrid.options import SimulationOptions
from hybrid.simulation import Event, simulate, simulate_step
from hybrid.systems import Array, System

_PARTS = 50


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
    system: System,
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
    system: System,
    section: PhaseSection,
    mode: int,
    x: Array,
    u: Array | None,
    options: SimulationOptions | None,
) -> Return:
    held = held_input(system, u)
    step = simulate_step(system, mode, x, section.period, held, section.start, options)
    status, message = step.status, step.message
    if status == "ok" and step.mode != mode:
        status = "other_mode"
        when = section.start + section.period
        where = failure.place(system, step.mode, when, step.state)
        message = f"{where}: left mode {mode}, and the period ends in another"
    return Return(step.mode, step.state, section.period, step.events, status, message)


def _return_to_event(
    system: System,
    section: EventSection,
    mode: int,
    x: Array,
    u: Array | None,
    options: SimulationOptions | None,
) -> Return:
    times = 0

    def met(event: Event) -> bool:
        nonlocal times
        times += event.transition.name == section.transition
        return times == section.count

    held = held_input(system, u)
    limit = section.time_limit  # in parts, so that ``max_events`` counts within one of them
    run = simulate(
        system, mode, x, limit, held, timestep=limit / _PARTS, options=options, until=met
    )
    status, message = run.status, run.message
    if status == "stopped":
        status = "ok"
    elif status == "no_event":
        problem = f"transition {section.transition!r} happened {times} of {section.count} times"
        status, message = "no_return", f"{problem}; {message}"
    return Return(run.final_mode, run.final_state, run.final_time, run.events, status, message)
