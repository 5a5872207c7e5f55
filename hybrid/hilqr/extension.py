"""References beyond their own mode: what a policy says where the modes do not match (5.3.4).

The j-th hybrid segment of a trajectory uses the j-th segment of the reference. After that
segment's last event the reference flows on with its last input held; before its first event it
flows backward with its first. Feedforward and gains are held likewise. Past the last segment the
terminal state and gains are held.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hybrid.hilqr.types import Array
from hybrid.simulation import Event

Flow = Callable[[int, float, Array, Array, float], Array]  # (mode, t, x, u, h) -> x(t + h)


class KnotEvent(NamedTuple):
    """An event and the timestep in which it happened."""

    knot: int
    event: Event


class Segment(NamedTuple):
    """Part of a trajectory between two events."""

    mode: int
    first: int  # first knot in it
    last: int  # last knot in it; less than ``first`` when both events are in one timestep
    opening: Event | None
    closing: Event | None


def segments(initial_mode: int, events: Sequence[KnotEvent], steps: int) -> list[Segment]:
    """Split a trajectory of ``steps`` timesteps at its events."""
    found, mode, first, opening = [], initial_mode, 0, None
    for knot, event in events:
        found.append(Segment(mode, first, knot, opening, event))
        mode, first, opening = event.transition.target, knot + 1, event
    found.append(Segment(mode, first, steps - 1, opening, None))
    return found


class ReferenceExtension:
    """Reference of one policy, extended past its events where a candidate asks for it."""

    def __init__(
        self,
        flow: Flow,
        timestep: float,
        states: Array,
        inputs: Array,
        parts: Sequence[Segment] | None,
    ) -> None:
        """Keep the reference: states (N+1, n), inputs (N, m), and its segments.

        Without segments it is never extended: knot k's state and gains apply in every mode.
        """
        self._flow, self._timestep = flow, timestep
        self._states, self._inputs, self._parts = states, inputs, parts
        self._forward: dict[int, list[Array]] = {}
        self._backward: dict[int, list[Array]] = {}

    def at(self, ordinal: int, mode: int, knot: int) -> tuple[Array, int]:
        """Reference state (n,) and the knot whose input, feedforward and gains apply.

        Args:
            ordinal: number of events that the candidate has had.
            mode: the candidate's mode.
            knot: the timestep.
        """
        if self._parts is None:
            return self._states[knot], knot
        index = self._matching(self._parts, ordinal, mode)
        if index is None:
            return self._states[-1], len(self._inputs) - 1
        part = self._parts[index]
        if knot > part.last:
            return self._ahead(index, part, knot), part.last
        if knot < part.first:
            return self._behind(index, part, knot), min(part.first, part.last)
        return self._states[knot], knot

    @staticmethod
    def _matching(parts: Sequence[Segment], ordinal: int, mode: int) -> int | None:
        """Segment of the same ordinal if its mode agrees, else the nearest whose mode does."""
        if ordinal >= len(parts):
            return None
        if parts[ordinal].mode == mode:
            return ordinal
        same = [i for i, part in enumerate(parts) if part.mode == mode]
        return min(same, key=lambda i: abs(i - ordinal)) if same else None

    def _ahead(self, index: int, part: Segment, knot: int) -> Array:
        """Forward extension from the state before the closing event."""
        if part.closing is None:
            return self._states[-1]
        known = self._forward.setdefault(index, [])
        while len(known) < knot - part.last:
            time = (part.last + 1 + len(known)) * self._timestep
            if known:
                x, t = known[-1], time - self._timestep
            else:
                x, t = part.closing.state_before, part.closing.time
            known.append(self._flow(part.mode, t, x, self._inputs[part.last], time - t))
        return known[knot - part.last - 1]

    def _behind(self, index: int, part: Segment, knot: int) -> Array:
        """Backward extension from the state after the opening event."""
        assert part.opening is not None
        known = self._backward.setdefault(index, [])
        u = self._inputs[min(part.first, part.last)]
        while len(known) < part.first - knot:
            time = (part.first - 1 - len(known)) * self._timestep
            if known:
                x, t = known[-1], time + self._timestep
            else:
                x, t = part.opening.state_after, part.opening.time
            known.append(self._flow(part.mode, t, x, u, time - t))
        return known[part.first - knot - 1]
