"""The messages of a launch that runs, as a page needs them."""

from __future__ import annotations

from typing import Any

from runtime.bus import Bus, Subscriber
from runtime.messages import GroundTruth, StateEstimate
from runtime.topics import (
    COMMAND,
    GROUND_TRUTH,
    PLAN_OUTLINE,
    ROBOT_STATUS,
    STATE_COVARIANCE,
    STATE_ESTIMATE,
    Topic,
)
from saltus.launch.announcement import RunningLaunch
from saltus.recording.start_axes import StartAxes
from saltus.view.instant import Instant

FIELDS: dict[str, Topic[Any]] = {
    "truth": GROUND_TRUTH, "estimate": STATE_ESTIMATE, "plan": PLAN_OUTLINE,
    "covariance": STATE_COVARIANCE, "status": ROBOT_STATUS, "command": COMMAND,
}  # fmt: skip
PAIRED = ("truth", "estimate")  # are compared, so they should be of the same tick


class LiveFeed:
    """Takes the newest messages of a launch; passes over all others.

    It subscribes once the robot moves: before, the processes of a launch take whoever listens for
    one of their own.
    """

    def __init__(self, launch: RunningLaunch, bus: Bus) -> None:
        """Wait for the launch's first tick."""
        self._launch, self._bus = launch, bus
        self._axes = StartAxes(launch.config)
        self._subscribers: dict[str, Subscriber[Any]] = {}
        self._instant = Instant()

    def newest(self) -> Instant | None:
        """What has come since; None where no state has. Never blocks."""
        if not self._subscribers:
            if not self._launch.is_moving:
                return None
            self._subscribers = {n: self._bus.subscriber(t) for n, t in FIELDS.items()}
        before = self._instant.time
        messages = {name: each.newest() for name, each in self._subscribers.items()
                    if name not in PAIRED}  # fmt: skip
        truths, estimates = (self._subscribers[name].all() for name in PAIRED)
        messages |= _pair(truths, estimates)
        seen = self._axes.to_local
        changes = {name: seen(message) for name, message in messages.items() if message is not None}
        self._instant = self._instant._replace(**changes)
        return self._instant if self._instant.time != before else None


def _pair(truths: list[GroundTruth], estimates: list[StateEstimate]) -> dict[str, Any]:
    """The newest truth and the estimate of its tick; without such a pair the newest of each."""
    by_tick = {estimate.tick: estimate for estimate in estimates}
    for truth in reversed(truths):
        if truth.tick in by_tick:
            return {"truth": truth, "estimate": by_tick[truth.tick]}
    newest = (each[-1] if each else None for each in (truths, estimates))
    return dict(zip(PAIRED, newest, strict=True))
