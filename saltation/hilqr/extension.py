"""References beyond their own mode: what a policy says where the modes do not match (5.3.4).

The j-th hybrid segment of a trajectory uses the j-th segment of the reference. After that
segment's last event the reference flows on with its last input held; before its first event it
flows backward with its first. Feedforward and gains are held likewise. Past the last segment the
terminal state and gains are held.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from saltation.arrays import contiguous
from saltation.compiled.policies import Reference
from saltation.events import EventRecord
from saltation.systems import Array, System


class KnotEvent(NamedTuple):
    """An event and the timestep in which it happened."""

    knot: int
    event: EventRecord


class Modes(NamedTuple):
    """Hybrid record of one rollout, its ``aux``: the mode at each knot, and the events."""

    knots: tuple[int, ...]  # (N+1,)
    events: tuple[KnotEvent, ...]  # in order of time


def reference_of(system: System, states: Array, inputs: Array, modes: Modes | None) -> Reference:
    """A reference, states (N+1, n) and inputs (N, m), in segments between its events.

    Candidates ask for extensions of it past its events (5.3.4). Without ``modes`` it is never
    extended: knot k's state and gains apply in every mode.
    """
    visited: list[int] = []
    events: tuple[KnotEvent, ...] = ()
    if modes is not None:
        events = modes.events
        visited = [modes.knots[0], *(event.transition.target for _, event in events)]
    index, knots = list(system.modes), [knot for knot, _ in events]
    S, N, n = len(visited), len(inputs), system.state_dim
    ends = np.full((2, S, 1 + n), np.nan)
    for i, (_, event) in enumerate(events):
        for side, state in enumerate((event.state_before, event.state_after)):
            ends[side, i + side, : 1 + len(state)] = event.time, *state
    return Reference(
        contiguous(states),
        contiguous(inputs),
        np.array([index.index(mode) for mode in visited], np.int64),
        np.array([0, *(knot + 1 for knot in knots)][:S], np.int64),
        np.array([*knots, N - 1][:S], np.int64),
        ends,
        np.zeros((2, S, N, n)),
        np.zeros((S, 2), np.int64),
    )
