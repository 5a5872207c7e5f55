"""A recorded run in memory: what was known at any time of it, for the page and for films."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from controller.planner_node import outline_of
from robots.planar_pose import PlanarPose
from runtime.messages import (
    Command,
    GroundTruth,
    MotorCommand,
    Plan,
    PlanOutline,
    Push,
    RobotStatus,
    StateEstimate,
)
from runtime.topics import (
    COMMAND,
    GROUND_TRUTH,
    PLAN_OUTLINE,
    ROBOT_STATUS,
    STATE_ESTIMATE,
    Topic,
)
from saltus.common.errors import BadRequest
from saltus.configuration.launch import LaunchConfig, make_config
from saltus.configuration.options import read_mapping
from saltus.launch.assembly import event_times
from saltus.launch.references import tilt_allowance
from saltus.metrics.run import RunMetrics
from saltus.recording.reading import StartAxes, messages_of_run, readable


class Instant(NamedTuple):
    """The newest messages at one time; None for what there is none of."""

    truth: GroundTruth | None = None
    estimate: StateEstimate | None = None
    plan: PlanOutline | None = None
    status: RobotStatus | None = None
    command: Command | None = None

    @property
    def state(self) -> GroundTruth | StateEstimate | None:
        """The best that is known of the robot."""
        return self.truth or self.estimate

    @property
    def heading(self) -> float:
        """Heading of the robot [rad]; 0 where nothing is known."""
        return 0.0 if self.state is None else PlanarPose.of(self.state.q).yaw

    @property
    def time(self) -> float:
        """Time of the state, by the launch's clock [s]."""
        return self.state.time if self.state is not None else 0.0


# Of each field of `Instant`.
WATCHED: dict[str, Topic[Any]] = {
    "truth": GROUND_TRUTH, "estimate": STATE_ESTIMATE, "plan": PLAN_OUTLINE,
    "status": ROBOT_STATUS, "command": COMMAND,
}  # fmt: skip


EVERY_TICKS = 10  # one state in so many is kept for a page: truth and estimate of the same
PLAN_EVERY_S = 0.029  # and one plan


class Mark(NamedTuple):
    """Something that happened."""

    time: float  # since the first state [s]
    kind: str  # push, fall, fault
    text: str


class _Track:
    """Messages of one kind by their time."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.messages: list[Any] = []

    def add(self, time: float, message: Any) -> None:
        self.times.append(time)
        self.messages.append(message)

    def at(self, time: float) -> Any:
        """The newest message at a time; None before the first."""
        index = bisect_right(self.times, time + 1e-9)
        return self.messages[index - 1] if index else None


class RecordedRun:
    """A run in memory: about 1 MB a second.

    Attributes:
        config: that it was made with.
        pushes: by hand, and when, since the first state [s].
        estimated: its states are estimates: the true ones are not recorded.
        duration: from the first state to the last [s].
        marks: in the order of their time.
    """

    def __init__(self, folder: Path, every_ticks: int = EVERY_TICKS) -> None:
        """Read the recording of a run folder; of one that was cut off, what it holds.

        Args:
            folder: of the run, or the recording itself.
            every_ticks: one state in so many is kept.

        Raises:
            BadRequest: there is none, or one of another version, or one without a state.
        """
        file = folder / "launch.yaml"
        with readable(folder):
            file.stat()
        self.config: LaunchConfig = make_config(read_mapping(file), str(file))
        self._tracks: dict[type, _Track] = {each.message: _Track() for each in WATCHED.values()}
        self._every = every_ticks
        self._marks: list[Mark] = []
        self.pushes: list[tuple[float, Push]] = []
        self._cause, self._tracking = "", "ok"
        self._judge = RunMetrics(judging=self.config.kind.simulated)
        with suppress(BadRequest, ValueError):  # its reference is gone since
            self._judge.tilt_allowance = tilt_allowance(self.config)
        axes = StartAxes(self.config)
        for message in messages_of_run(folder):
            self._add(axes.to_local(message))
        self.estimated = not self._tracks[GroundTruth].times
        times = self._tracks[StateEstimate if self.estimated else GroundTruth].times
        if not times:
            raise BadRequest(f"{folder}: it holds no state of the robot: empty, or cut off")
        self._origin, self.duration = times[0], times[-1] - times[0]
        self.pushes = [(time - self._origin, push) for time, push in self.pushes]
        self.marks = self._all_marks()

    def at(self, time: float) -> Instant:
        """State of the run `time` [s] after its first state."""
        now = self._origin + time
        return Instant(**{n: self._tracks[each.message].at(now) for n, each in WATCHED.items()})

    def _add(self, message: Any) -> None:
        if isinstance(message, Push):
            self._note(self._now(), "push", f"{message.body} by hand")
            self.pushes.append((self._now(), message))
        elif isinstance(message, Plan):
            # Keep the outline, unless the plan has no knots or the last one has just begun.
            track, at = self._tracks[PlanOutline], message.time
            if len(message.inputs) and (not track.times or at >= track.times[-1] + PLAN_EVERY_S):
                track.add(at, outline_of(message))
        elif isinstance(message, MotorCommand):
            # The tracker follows no plan any more: hold, stand_down, damp.
            if message.status not in ("ok", "waiting", self._tracking):
                self._note(message.time, "fault", f"tracker: {message.status}")
            self._tracking = message.status
        elif isinstance(message, RobotStatus):
            self._judge.add_status(message)
            if message.cause and message.cause != self._cause:
                self._note(message.time, "fault", message.cause)
            self._cause = message.cause
        elif isinstance(message, GroundTruth):
            fell = self._judge.fell
            self._judge.add_truth(message)
            if self._judge.fell and not fell:
                self._note(message.time, "fall", "the robot fell")
        is_state = isinstance(message, GroundTruth | StateEstimate)
        track = self._tracks.get(type(message))
        starting = isinstance(message, StateEstimate) and message.status == "starting"
        if track is not None and not starting and not (is_state and message.tick % self._every):
            # Commands are stamped by their source's own clock.
            track.add(self._now() if isinstance(message, Command) else message.time, message)

    def _now(self) -> float:
        """Time of the newest state [s]."""
        times = self._tracks[GroundTruth].times or self._tracks[StateEstimate].times
        return times[-1] if times else 0.0

    def _note(self, time: float, kind: str, text: str) -> None:
        self._marks.append(Mark(time, kind, text))

    def _all_marks(self) -> Sequence[Mark]:
        """Marks since the first state: noted ones, and scripted pushes."""
        script = [Mark(at, "push", "by the script") for at in event_times(self.config)]
        noted = [mark._replace(time=mark.time - self._origin) for mark in self._marks]
        return sorted(mark for mark in (*script, *noted) if 0.0 <= mark.time <= self.duration)
