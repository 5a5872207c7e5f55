"""Event-driven simulation of hybrid systems: flow, locate the event, reset, flow on (5.20)-(5.22).

Within each integration step a guard that changes sign brackets its event; the root is found by
repeating the step with a shorter length. Two crossings of one guard within one integration step
cancel out and are not seen: ``Tolerance.max_step`` bounds that step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import brentq

from hybrid.integration import Tolerance, adaptive_step, dormand_prince
from hybrid.systems import Array, HybridSystem, Mode, Transition

Status = Literal["ok", "zeno", "not_finite", "too_stiff"]


@dataclass(frozen=True)
class SimulationOptions:
    """Accuracy of event-driven simulation."""

    tolerance: Tolerance = field(default_factory=Tolerance)
    event_time_tolerance: float = 1e-13  # [s]
    guard_tolerance: float = 1e-9  # deeper inside a guard than this, its transition fires at once
    max_events: int = 20  # in one timestep; more are taken for Zeno behaviour


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


def simulate_step(
    system: HybridSystem,
    mode: int,
    t: float,
    x: Array,
    u: Array,
    duration: float,
    options: SimulationOptions | None = None,
) -> Step:
    """Simulate one timestep with the input held, (5.21) and (5.22), for any number of events.

    Args:
        system: the hybrid system.
        mode: number of the mode at the start.
        t: time at the start [s].
        x: state at the start (n,).
        u: input (m,).
        duration: length of the timestep [s].
        options: accuracy.

    Returns:
        The end of the timestep. Status "zeno": ``max_events`` happened and the state is the one
        after the last of them. Status "not_finite": the state ran away. Status "too_stiff": the
        flow needed more integration steps than its tolerance allows.
    """
    options = options or SimulationOptions()
    events: list[Event] = []
    end, h = t + duration, duration
    for _ in range(options.tolerance.max_steps):
        if t >= end:
            return Step(mode, x, tuple(events), "ok")
        edge = _fired_at_once(system, mode, t, x, u, options)
        if edge is None:
            x, t, h, edge = _flow_to_event(system, mode, t, x, u, end, h, options)
            if not np.all(np.isfinite(x)):
                return Step(mode, x, tuple(events), "not_finite")
        if edge is not None:
            if len(events) == options.max_events:
                return Step(mode, x, tuple(events), "zeno")
            after = np.asarray(edge.reset(t, x, u), dtype=np.float64)
            events.append(Event(edge, t, x, after))
            x, mode, h = after, edge.target, end - t
    return Step(mode, x, tuple(events), "ok" if t >= end else "too_stiff")


def _fired_at_once(
    system: HybridSystem, mode: int, t: float, x: Array, u: Array, options: SimulationOptions
) -> Transition | None:
    """Transition whose guard the state is in already: deep inside, or on it and moving in."""
    for edge in system.outgoing(mode):
        value = edge.guard(t, x, u)
        if value < -options.guard_tolerance:
            return edge
        if value <= 0.0 and system.guard_rate(edge, t, x, u) < 0.0:
            return edge
    return None


def _flow_to_event(
    system: HybridSystem,
    mode: int,
    t: float,
    x: Array,
    u: Array,
    end: float,
    h: float,
    options: SimulationOptions,
) -> tuple[Array, float, float, Transition | None]:
    """One integration step, cut at the first event in it: (state, time, next h, transition)."""
    flow = system.modes[mode]
    left = end - t
    final, taken, following = _advance(flow, t, x, u, min(h, left), options.tolerance)
    first, edge = taken, None
    for candidate in system.outgoing(mode):
        if candidate.guard(t, x, u) > 0.0 >= candidate.guard(t + taken, final, u):
            length = _locate(flow, candidate, t, x, u, taken, options)
            if edge is None or length < first:
                first, edge = length, candidate
    if edge is None:
        return final, end if taken == left else t + taken, following, None
    return _repeat(flow, t, x, u, first), t + first, following, edge


def _locate(
    flow: Mode,
    edge: Transition,
    t: float,
    x: Array,
    u: Array,
    taken: float,
    options: SimulationOptions,
) -> float:
    """Length [s] of the step from (t, x) that ends on a guard which the whole step crosses."""

    def guard(h: float) -> float:
        return edge.guard(t + h, _repeat(flow, t, x, u, h), u)

    if guard(taken) >= 0.0:
        return taken
    return float(brentq(guard, 0.0, taken, xtol=options.event_time_tolerance))  # type: ignore


def _advance(
    flow: Mode, t: float, x: Array, u: Array, h: float, tolerance: Tolerance
) -> tuple[Array, float, float]:
    if flow.flow_map is not None:
        h = min(h, tolerance.max_step)
        return flow.flow_map.state(t, x, u, h), h, h
    return adaptive_step(lambda s, y: flow.flow(s, y, u), t, x, h, tolerance)


def _repeat(flow: Mode, t: float, x: Array, u: Array, h: float) -> Array:
    if flow.flow_map is not None:
        return flow.flow_map.state(t, x, u, h)
    return dormand_prince(lambda s, y: flow.flow(s, y, u), t, x, h)[0]
