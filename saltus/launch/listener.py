"""Listens to every topic of a launch: feeds the metrics, counts plans, and records."""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from runtime.bus import Bus, Subscriber
from runtime.messages import (
    Command,
    DecodeError,
    GroundTruth,
    Pace,
    Plan,
    RobotStatus,
)
from runtime.topics import (
    BY_WATCHERS,
    COMMAND,
    GROUND_TRUTH,
    MOTOR_COMMAND,
    PACE,
    PLAN,
    RECORDED,
    ROBOT_STATUS,
    SENSOR_READING,
    STATE_ESTIMATE,
    TOPICS,
)
from saltus.common.console import say
from saltus.metrics.run import RunMetrics

if TYPE_CHECKING:
    from runtime.recording import Recorder

# Without a recording.
NEEDED = (GROUND_TRUTH, STATE_ESTIMATE, PLAN, ROBOT_STATUS, COMMAND, PACE)
IN_LOCK_STEP = (SENSOR_READING, MOTOR_COMMAND)  # besides: they show which process waits for which
WATCHERS = {topic.name for topic in BY_WATCHERS}
OTHER_CLOCKS = {COMMAND.name, *WATCHERS}  # their sources have clocks of their own

TURN = 200  # frames of a topic that are taken before others have their turn


class Stamp(msgspec.Struct):
    """The fields that messages share; decoding them alone is cheap. Commands have no tick."""

    time: float
    tick: int = -1
    id: int = 0  # of plans, which count from 1
    status: str = ""  # of plans


class _Arrival(NamedTuple):
    time: float  # by the launch's clock [s]
    tick: int
    subscriber: Subscriber
    content: Any  # a frame or a row


class Listener:
    """Subscribes to every topic that is recorded; `drain` reads the pending messages.

    Processes begin once each of their topics has a subscriber. When tracker and planner have
    begun, the last ones to do so, topics that are not needed here are given up: to send them
    costs each process some per cent of a core.

    Attributes:
        plans: number of plans that were published.
        lost_plans: of these, those that did not come, because this process was too slow.
        ticks: newest tick seen, per topic name (-1 before the first).
        status: of the robot's bridge, where there is one.
        command: the driver's newest, where there is one.
        truth: newest true state, where it is known.
        planner_fails: the newest plan has the status "failed".
        paced_at_s: time of the last request to stop or slow time, by the monotonic clock.
    """

    def __init__(
        self, bus: Bus, metrics: RunMetrics, recorder: Recorder | None, lock_step: bool = False
    ) -> None:
        """Connect; the recorder, where there is one, is closed with the listener."""
        self._needed = (*NEEDED, *(IN_LOCK_STEP if lock_step else ()))
        self.metrics = metrics
        self.plans = self.lost_plans = 0
        self.status: RobotStatus | None = None
        self.command: Command | None = None
        self.truth: GroundTruth | None = None
        self.planner_fails = self._failure_announced = False
        self.paced_at_s = -math.inf
        self.ticks = {topic.name: -1 for topic in TOPICS}
        # Plans are large: without a recording a short queue does, and they are counted by id.
        self._subscribers: list[Subscriber] = [
            bus.subscriber(t, conflate=t is PLAN and not recorder, lazy=t is STATE_ESTIMATE)
            for t in RECORDED
        ]
        self._waiting: list[_Arrival] = []
        self._recorder = recorder
        self._stop_announced = False
        self._newest_s: float | None = None  # by the launch's clock
        self._first_ns: int | None = None  # of what was recorded; by the clock it is not 0
        self._stamp = msgspec.msgpack.Decoder(Stamp)
        self._hear: dict[str, Callable[[Subscriber, Any], None]] = {
            GROUND_TRUTH.name: self._hear_truth,
            PLAN.name: self._hear_plan,
            STATE_ESTIMATE.name: lambda each, content: metrics.add_estimate(each.message(content)),
            ROBOT_STATUS.name: self._hear_status,
            COMMAND.name: self._hear_command,
            PACE.name: self._hear_pace,
        }  # what is more than counted, or recorded

    def drain(self, most: int | None = TURN) -> None:
        """Read all pending frames, or `most` of each topic, in the order of their times.

        Where more of a topic waits, frames of others that are later wait too: a state is judged by
        what the robot was allowed to do then. A frame that does not decode is passed over.
        """
        end = math.inf
        for subscriber in self._subscribers:
            arrivals = subscriber.take(most)
            self._waiting += [a for each in arrivals if (a := self._read(subscriber, each))]
            if len(arrivals) == most and self._waiting:
                end = min(end, self._waiting[-1].time)
        self._waiting.sort(key=lambda each: each.time)
        ready = bisect_right(self._waiting, end, key=lambda each: each.time)
        for each in self._waiting[:ready]:
            self._take(each)
        del self._waiting[:ready]
        begun = min(self.ticks[PLAN.name], self.ticks[MOTOR_COMMAND.name]) >= 0
        if begun and not self._recorder and len(self._subscribers) > len(self._needed):
            self._give_up_the_rest()

    def _read(self, subscriber: Subscriber, content: Any) -> _Arrival | None:
        """A frame with its time by the launch's clock; None where it does not decode."""
        try:
            if isinstance(content, bytes):
                stamp = self._stamp.decode(content)
                at, tick = stamp.time, stamp.tick
            else:
                tick, at = content[:2].tolist()  # as every row begins
            if self._newest_s is not None and subscriber.topic.name in OTHER_CLOCKS:
                at = self._newest_s
            return _Arrival(at, int(tick), subscriber, content)
        except (msgspec.DecodeError, ValueError, OverflowError):
            return None

    def _give_up_the_rest(self) -> None:
        """Close the topics that are not needed."""
        for subscriber in self._subscribers:
            if subscriber.topic not in self._needed:
                subscriber.close()
        self._subscribers = [each for each in self._subscribers if each.topic in self._needed]

    def close(self) -> None:
        """Finish the recording."""
        if self._recorder:
            self._recorder.close()
            self._say_failure()
            if self.recording and self.lost_plans:
                say(f"recording: {self.recording['cause']}")

    @property
    def recording(self) -> dict[str, Any] | None:
        """Whether the recording is complete, and else the cause; None where none was asked for."""
        if self._recorder is None:
            return None
        cause = self._recorder.failure
        if not cause and self.lost_plans:
            cause = f"{self.lost_plans} of {self.plans} plans were lost: the machine was too busy"
        return {"complete": not cause, "cause": cause}

    def _say_failure(self) -> None:
        """Say that the recording has stopped, why, and what is kept; the launch goes on."""
        recorder = self._recorder
        if recorder and recorder.failure and not self._stop_announced:
            self._stop_announced = True
            seconds = (recorder.kept_until_ns - (self._first_ns or 0)) * 1e-9
            kept = f"the first {seconds:.2f} s ({recorder.kept} frames) are kept"
            say(f"recording stopped: {recorder.failure}; "
                f"{kept if recorder.kept else 'nothing is kept'}; the launch goes on")  # fmt: skip

    def _take(self, arrival: _Arrival) -> None:
        at, tick, subscriber, content = arrival
        name = subscriber.topic.name
        if self._newest_s is None and name in WATCHERS:
            return  # there is no robot yet for which it could be meant
        if self._newest_s is None or name not in OTHER_CLOCKS:
            self._newest_s = at
        if self._recorder:
            time_ns = round(self._newest_s * 1e9)
            self._first_ns = time_ns if self._first_ns is None else self._first_ns
            self._recorder.write(subscriber.topic, subscriber.frame(content), time_ns)
            self._say_failure()
        if tick > self.ticks[name]:
            self.ticks[name] = tick
        hear = self._hear.get(name)
        try:
            if hear is not None:
                hear(subscriber, content)
        except DecodeError:
            return

    def _hear_truth(self, subscriber: Subscriber[GroundTruth], content: Any) -> None:
        self.truth = subscriber.message(content)
        self.metrics.add_truth(self.truth)

    def _hear_plan(self, _: Subscriber[Plan], content: bytes) -> None:
        """Count it, and say where it is the first that failed; the rest is not decoded."""
        stamp = self._stamp.decode(content)
        if stamp.id > self.plans:
            self.lost_plans += stamp.id - self.plans - 1
            self.plans = stamp.id
        self.planner_fails = stamp.status == "failed"
        if self.planner_fails and not self._failure_announced:
            self._failure_announced = True
            say(f"the planner failed at tick {stamp.tick}; see logs/planner.log")

    def _hear_command(self, subscriber: Subscriber[Command], content: Any) -> None:
        self.command = subscriber.message(content)
        self.metrics.add_command(self.command)

    def _hear_pace(self, subscriber: Subscriber[Pace], content: Any) -> None:
        if subscriber.message(content).speed < math.inf:
            self.paced_at_s = time.monotonic()

    def _hear_status(self, subscriber: Subscriber[RobotStatus], content: Any) -> None:
        """Keep the robot's status; why it was stopped is worth a line, once."""
        status = subscriber.message(content)
        if status.cause and (self.status is None or not self.status.cause):
            say(f"robot: {status.cause}")
        self.status = status
        self.metrics.add_status(status)
