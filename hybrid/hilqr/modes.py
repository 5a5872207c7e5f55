"""What a rollout of a hybrid system records beside its states and inputs."""

from __future__ import annotations

from typing import NamedTuple

from hybrid.hilqr.extension import KnotEvent


class Modes(NamedTuple):
    """Hybrid record of one rollout, its ``aux``: the mode at each knot, and the events."""

    knots: tuple[int, ...]  # (N+1,)
    events: tuple[KnotEvent, ...]  # in order of time
