"""State of a running launch for a page, and the numbers that it plots of an instant."""

from __future__ import annotations

from typing import Any, NamedTuple

from runtime.bus import Bus, Subscriber
from runtime.messages import (
    GroundTruth,
    StateEstimate,
)
from saltus.common.heading import motion_in_heading
from saltus.launch.announcement import RunningLaunch
from saltus.launch.recorded import WATCHED, Instant
from saltus.recording.reading import StartAxes


class Measures(NamedTuple):
    """Plotted numbers of one instant; NaN for an unknown one."""

    time: float  # [s]
    solve_ms: float
    plan_age_ms: float  # since knot 0 of the newest plan
    forward: float  # of the base, in its heading [m/s]
    forward_command: float  # [m/s]
    yaw_rate: float  # [rad/s]
    yaw_rate_command: float  # [rad/s]


def measures_of(instant: Instant, speed: float = float("nan")) -> Measures:
    """The numbers of an instant; `speed` is the velocity commanded by the launch file [m/s]."""
    nan, now = float("nan"), instant.time
    state, plan, command = instant.state, instant.plan, instant.command
    forward, _, yaw_rate = (nan,) * 3 if state is None else motion_in_heading(state).tolist()
    solve, age = (nan, nan) if plan is None else (plan.solve_s, now - plan.time)
    asked, turn = (speed, nan) if command is None else (command.forward, command.yaw_rate)
    return Measures(now, 1e3 * solve, 1e3 * age, forward, asked, yaw_rate, turn)


PAIRED = ("truth", "estimate")  # are compared, so they should be of the same tick


class LiveFeed:
    """Takes the newest messages of a launch; passes over all others.

    It subscribes once the robot moves: before, the processes of a launch take a subscriber for
    one of their own.
    """

    def __init__(self, launch: RunningLaunch, bus: Bus) -> None:
        """Wait for the launch's first tick."""
        self._launch, self._bus = launch, bus
        self._axes = StartAxes(launch.config)
        self._subscribers: dict[str, Subscriber[Any]] = {}
        self._instant = Instant()

    def newest(self) -> Instant | None:
        """The newest messages; None without a state since the last call. Never blocks."""
        if not self._subscribers:
            if not self._launch.is_moving:
                return None
            self._subscribers = {n: self._bus.subscriber(t) for n, t in WATCHED.items()}
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
