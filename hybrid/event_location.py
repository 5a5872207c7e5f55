"""Where in an integration step a guard is met: bracketed, so found to the tolerance asked for.

A guard that is positive before the step and not after it brackets its event. One that is positive
at both ends may still have been crossed twice in between, if it turned: its rate is then negative
before and positive after, its lowest point is located, and brackets the first of the crossings.
One that starts on the guard and leaves it may come back. More turns than one within a step are
not seen: ``SimulationOptions.max_step`` bounds that step.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

from scipy.optimize import brentq

from hybrid.options import SimulationOptions
from hybrid.piece import Piece
from hybrid.systems import System, Transition

Function = Callable[[float], float]  # of the length of a step [s]
_NUDGE = 1e-6  # of a step: how far along the flow a guard is differenced to see whether it falls
_SLACK = 2.0  # a guard may fall this many times faster than at the start of the step


class Meeting(NamedTuple):
    """The first guard met in a step."""

    length: float  # [s] from the start of the step
    transition: Transition
    kind: Literal["crossed", "grazed", "not_finite"]


class _NotFinite(Exception):
    """A guard, or its rate, gave NaN while a meeting was being located."""


def first_meeting(
    system: System,
    edges: tuple[Transition, ...],
    piece: Piece,
    before: list[float],
    options: SimulationOptions,
) -> Meeting | None:
    """The earliest meeting of a step with a guard; at a tie, that of the transition given first.

    Args:
        system: the hybrid system.
        edges: the transitions that leave the step's mode.
        piece: the step.
        before: value of each of their guards at its start.
        options: how well to locate.
    """
    first, u, tie = None, piece.input, options.event_time_tolerance
    nudge = _NUDGE * piece.length
    soon, nudged = piece.time + nudge, piece.nudged(nudge)
    for i, edge in enumerate(edges):
        value, after = before[i], edge.guard(piece.time + piece.length, piece.end, u)
        if value > 0.0 and after > 0.0:
            fall = (value - edge.guard(soon, nudged, u)) / _NUDGE  # over the whole step
            if _SLACK * fall < value:
                continue
        met = _meeting(system, edge, piece, value, after, options)
        if met is not None and (first is None or met.length < first.length - tie):
            first = met
    return first


def _meeting(
    system: System,
    edge: Transition,
    piece: Piece,
    before: float,
    after: float,
    options: SimulationOptions,
) -> Meeting | None:
    """Meeting with one guard, from its values at both ends of the step."""

    def guard(h: float) -> float:
        return _finite(edge.guard(piece.time + h, piece.made_with(h).end, piece.input))

    def rate(h: float) -> float:
        t, x = piece.time + h, piece.made_with(h).end
        return _finite(system.guard_rate(edge, t, x, piece.input))

    try:
        _finite(after)
        if after > 0.0:
            return _turn(edge, guard, rate, piece.length, options) if before > 0.0 else None
        if before > 0.0:
            return Meeting(_root(guard, 0.0, piece.length, options), edge, "crossed")
        if after < -options.guard_tolerance:
            return _return(edge, guard, piece.length, options)
    except _NotFinite:
        return Meeting(piece.length, edge, "not_finite")
    return None


def _turn(
    edge: Transition, guard: Function, rate: Function, length: float, options: SimulationOptions
) -> Meeting | None:
    """Meeting with a guard that is positive at both ends of the step, if it turns in between."""
    last = rate(length)
    if not rate(0.0) < 0.0 <= last:
        return None
    lowest = length if last == 0.0 else _root(rate, 0.0, length, options)
    depth = guard(lowest)
    if depth > options.guard_tolerance:
        return None
    if depth >= -options.guard_tolerance:
        return Meeting(lowest, edge, "grazed")
    return Meeting(_root(guard, 0.0, lowest, options), edge, "crossed")


def _return(
    edge: Transition, guard: Function, length: float, options: SimulationOptions
) -> Meeting | None:
    """Meeting with a guard that the step starts on, and ends inside: it left, or it slid in."""
    outside = 0.5 * length
    while guard(outside) <= 0.0:
        outside *= 0.5
        if outside < options.event_time_tolerance:
            return Meeting(0.0, edge, "grazed")
    return Meeting(_root(guard, outside, length, options), edge, "crossed")


def _root(function: Function, low: float, high: float, options: SimulationOptions) -> float:
    """Where a function changes sign between two lengths [s]."""
    if function(high) == 0.0:
        return high
    return float(brentq(function, low, high, xtol=options.event_time_tolerance))  # type: ignore[arg-type]


def _finite(value: float) -> float:
    if not -math.inf < value:
        raise _NotFinite
    return value
