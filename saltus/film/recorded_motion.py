"""Reads how the robot moved, and what it planned, from the recording of a run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from runtime.messages import GroundTruth, Plan, Push, StateEstimate
from runtime.topics import GROUND_TRUTH, PLAN, PUSH, STATE_ESTIMATE
from saltus.common.errors import BadRequest
from saltus.configuration.launch import TICK_S
from saltus.recording.reading import messages_of_run
from saltus.recording.start_axes import StartAxes
from saltus.trace.recorded_run import config_of_run

Array = NDArray[np.float64]


class RecordedMotion(NamedTuple):
    """A robot's motion as its start sees it, T states, and its P plans.

    Attributes:
        time: (T,) since tick 0 of a simulated run, or the first estimate [s]; ascending.
        q: (T, 19) configurations.
        estimated: they are estimates: nobody recorded the true ones.
        plan_time: (P,) of the plans' first knots [s].
        plan_paths: (P, K, 3) base positions [m]; a shorter plan stays at its last one.
        pushes: by hand, and when [s].
    """

    time: Array
    q: Array
    estimated: bool
    plan_time: Array
    plan_paths: Array
    pushes: list[tuple[float, Push]]

    def q_at(self, times: Array) -> Array:
        """Configurations (n, 19) nearest to times (n,) [s]."""
        middles = 0.5 * (self.time[1:] + self.time[:-1])
        return self.q[np.searchsorted(middles, times)]

    def plan_path_at(self, times: Array) -> Array:
        """Base path (n, K, 3) of the newest plan that has begun at times (n,) [s]; K = 0: none."""
        if not len(self.plan_time):
            return np.zeros((len(times), 0, 3))
        newest = np.searchsorted(self.plan_time, times, side="right") - 1
        return self.plan_paths[np.maximum(newest, 0)]


def read_motion(run: Path) -> RecordedMotion:
    """The motion of a run that ``saltus launch --record`` recorded.

    A recording that was cut off gives what it holds.

    Raises:
        BadRequest: there is no recording, no state in it, or another version recorded it.
    """
    reader, seen = _Reader(), _seen_from_start(run)
    for _, message in messages_of_run(run, (GROUND_TRUTH, STATE_ESTIMATE, PLAN, PUSH)):
        reader.take(seen(message))
    if not (reader.truths or reader.estimates):
        raise BadRequest(f"{run}: no state of the robot in it: it is empty or was cut off")
    return reader.motion()


def _seen_from_start(run: Path) -> Callable[[Any], Any]:
    """Moves messages to the run's start, which its launch file names."""
    try:
        return StartAxes(config_of_run(run)).to_local
    except BadRequest:
        return lambda message: message


class _Reader:
    """Keeps the little of a recording that a film shows."""

    def __init__(self) -> None:
        self.truths: list[tuple[float, Array]] = []  # times by the launch's clock [s]
        self.estimates: list[tuple[float, Array]] = []  # until there is a true state
        self._plans: list[tuple[float, Array]] = []
        self._pushes: list[tuple[float, Push]] = []
        self._tick_0 = 0.0  # when the first true state's tick 0 was [s]

    def take(self, message: GroundTruth | StateEstimate | Plan | Push) -> None:
        if isinstance(message, GroundTruth):
            if not self.truths:
                self._tick_0 = message.time - TICK_S * message.tick
            self.truths.append((message.time, message.q))
        elif isinstance(message, StateEstimate):
            if not self.truths and message.status != "starting":
                self.estimates.append((message.time, message.q))
        elif isinstance(message, Plan):
            # A copy, for the plan's states are large. Some recordings have knots of a few plans.
            if message.status != "failed" and len(message.states_q) > 1:
                self._plans.append((message.time, message.states_q[:, :3].copy()))
        elif self.truths:
            # Its own time is by the sender's clock.
            self._pushes.append((self.truths[-1][0], message))

    def motion(self) -> RecordedMotion:
        states = self.truths or self.estimates
        origin = self._tick_0 if self.truths else states[0][0]
        times = np.array([time for time, _ in states]) - origin
        order = np.argsort(times, kind="stable")
        knots = max((len(path) for _, path in self._plans), default=0)
        paths = [np.pad(path, ((0, knots - len(path)), (0, 0)), "edge") for _, path in self._plans]
        return RecordedMotion(
            times[order], np.array([q for _, q in states])[order], not self.truths,
            np.array([time for time, _ in self._plans]) - origin,
            np.array(paths).reshape(len(paths), knots, 3),
            [(time - origin, push) for time, push in self._pushes],
        )  # fmt: skip
