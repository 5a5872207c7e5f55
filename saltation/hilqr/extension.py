"""References beyond their own mode: what a policy says where the modes do not match (5.3.4).

The j-th hybrid segment of a trajectory uses the j-th segment of the reference. After that
segment's last event the reference flows on with its last input held; before its first event it
flows backward with its first. Feedforward and gains are held likewise. Past the last segment the
terminal state and gains are held.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from saltation.compiled.limits import Limits
from saltation.compiled.policies import Reference, reference_at
from saltation.compiled.system import native_tables
from saltation.events import EventRecord
from saltation.options import SimulationOptions
from saltation.systems import Array, System


class KnotEvent(NamedTuple):
    """An event and the timestep in which it happened."""

    knot: int
    event: EventRecord


class Modes(NamedTuple):
    """Hybrid record of one rollout, its ``aux``: the mode at each knot, and the events."""

    knots: tuple[int, ...]  # (N+1,)
    events: tuple[KnotEvent, ...]  # in order of time


class Segment(NamedTuple):
    """Part of a trajectory between two events."""

    mode: int
    first: int  # first knot in it
    last: int  # last knot in it; less than ``first`` when both events are in one timestep
    start_event: EventRecord | None
    end_event: EventRecord | None


def segments(initial_mode: int, events: Sequence[KnotEvent], steps: int) -> list[Segment]:
    """Split a trajectory of ``steps`` timesteps at its events."""
    result, mode, first, start_event = [], initial_mode, 0, None
    for knot, event in events:
        result.append(Segment(mode, first, knot, start_event, event))
        mode, first, start_event = event.transition.target, knot + 1, event
    result.append(Segment(mode, first, steps - 1, start_event, None))
    return result


class ReferenceExtension:
    """A reference, extended past its events where a candidate asks for it.

    Without segments it is never extended: knot k's state and gains apply in every mode.
    """

    def __init__(
        self,
        system: System,
        timestep: float,
        states: Array,
        inputs: Array,
        parts: Sequence[Segment],
        options: SimulationOptions,
    ) -> None:
        """Keep the reference: states (N+1, n), inputs (N, m), and its segments."""
        self._index = {number: i for i, number in enumerate(system.modes)}
        self._tables, self._limits = native_tables(system), Limits.of(options)
        self._timestep = float(timestep)
        S, N, n = len(parts), len(inputs), system.state_dim
        ends = (
            [_row(part.end_event, n, after=False) for part in parts],
            [_row(part.start_event, n, after=True) for part in parts],
        )
        self.reference = Reference(
            contiguous(states),
            contiguous(inputs),
            np.array([self._index[part.mode] for part in parts], np.int64),
            np.array([part.first for part in parts], np.int64),
            np.array([part.last for part in parts], np.int64),
            np.array(ends).reshape(2, S, 1 + n),
            np.zeros((2, S, N, n)),
            np.zeros((S, 2), np.int64),
        )

    def at(self, ordinal: int, mode: int, knot: int) -> tuple[Array, int]:
        """Reference state (n,) and the knot whose input, feedforward and gains apply.

        Args:
            ordinal: number of events that the candidate has had.
            mode: the candidate's mode.
            knot: the timestep.
        """
        return reference_at(
            self._tables.tables, self.reference, ordinal, self._index[mode], knot,
            self._timestep, self._limits,
        )  # fmt: skip


def contiguous(array: Array) -> Array:
    """An array of floats as kernels take it."""
    return np.ascontiguousarray(array, float)


def _row(event: EventRecord | None, n: int, after: bool) -> Array:
    """Time and state (1 + n,) at an event; NaN where there is none."""
    row = np.zeros(1 + n)
    if event is None:
        row[0] = np.nan
        return row
    state = event.state_after if after else event.state_before
    row[0], row[1 : 1 + len(state)] = event.time, state
    return row
