"""The compact trace of a trial: made tick by tick or from a recording, saved and loaded."""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from controller.driving.commands import Goal, ScriptClock
from controller.gaits import GAITS, Gait
from runtime.checked import Array
from runtime.messages import (
    Command,
    GroundTruth,
    LineSearch,
    MotorCommand,
    Plan,
    Push,
    RobotStatus,
)
from runtime.topics import (
    COMMAND,
    GROUND_TRUTH,
    LINE_SEARCH,
    MOTOR_COMMAND,
    PLAN,
    PUSH,
    ROBOT_STATUS,
    STATE_ESTIMATE,
)
from saltus.common.files import replacing
from saltus.configuration.launch import TICK_S, LaunchConfig, make_config
from saltus.configuration.options import read_mapping
from saltus.launch.assembly import event_times, gait_clock
from saltus.launch.lock_step import Tick
from saltus.metrics.driving import GoalWatch
from saltus.recording.reading import StartAxes, messages_of_run, readable, summary_of_run

_PLAIN = ("statuses", "commands", "events")  # stored as JSON; the rest is numbers
_DTYPES: dict[str, Any] = {
    **dict.fromkeys(("contact", "planned", "plan_contacts"), np.uint8),
    **dict.fromkeys(("q", "plan_q", "costs", "solve_ms"), np.float32),
}  # the rest is small or needs the digits


def _empty(*shape: int) -> Any:
    return field(default_factory=lambda: np.zeros(shape))


@dataclass(frozen=True)
class Trace:
    """One trial, thinned out to a step of 10 ms. N knots of a plan, C candidates of a line search.

    Attributes:
        time: (T,) [s].
        q: (T, 19) true configurations.
        contact: (T, 4) true contacts, 0 or 1.
        planned: (T, 4) contacts of the gait's schedule, 0 or 1; all ones where there is no gait.
        plan_time: time of knot 0 of the first plan that saw a perturbation [s]; NaN where none did.
        plan_period: between the knots of that plan [s].
        plan_contacts: (N, 4) of that plan; (0, 4) where there is none.
        plan_q: (N+1, 19) of that plan; (0, 19) where there is none.
        step_sizes: (C,) of its line searches, 0.0 for the trajectory before the step; (0,) where
            the planner searches no line.
        costs: (I, C) cost of every candidate in each iteration, inf where it diverged.
        solve_ms: (S,) duration of every solve [ms].
        statuses: number of plans by status.
        commands: number of motor commands by status.
        events: when perturbations began [s].
        goals: (G, 5) of a robot that is driven: since when [s], forward and left [m/s], yaw rate
            [rad/s], and the gait's place in `controller.gaits.GAITS`.
    """

    time: Array
    q: Array
    contact: Array
    planned: Array
    plan_time: float = float("nan")
    plan_period: float = 0.01
    plan_contacts: Array = _empty(0, 4)
    plan_q: Array = _empty(0, 19)
    step_sizes: Array = _empty(0)
    costs: Array = _empty(0, 0)
    solve_ms: Array = _empty(0)
    statuses: dict[str, int] = field(default_factory=dict)
    commands: dict[str, int] = field(default_factory=dict)
    events: list[float] = field(default_factory=list)
    goals: Array = _empty(0, 5)


def trace_path(sweep: Path, planner: str, trial: int) -> Path:
    """The trace of a trial in the folder of a sweep; a plug-in's name may have slashes."""
    return sweep / "traces" / f"{re.sub(r'[/:]', '_', planner)}-{trial}.npz"


def save_trace(trace: Trace, path: Path) -> None:
    """Write a trace, compressed, most of it in single precision.

    ``path`` is whole or absent, never half.

    Raises:
        OSError: it cannot be written.
    """
    members: dict[str, Any] = {name: _packed(name, getattr(trace, name)) for name in _NAMES}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part, part.open("wb") as file:
        np.savez_compressed(file, **members)


def load_trace(path: Path) -> Trace:
    """Read a trace back; what is large has single precision.

    Raises:
        ValueError: the file is no trace.
        OSError: it cannot be read.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            return Trace(**{name: _unpacked(name, file[name]) for name in _NAMES})
    except OSError:
        raise
    except Exception as error:  # of a damaged archive zipfile and NumPy raise many kinds
        raise ValueError(f"{path}: not a trace of this version: {error}") from error


_NAMES = [member.name for member in fields(Trace)]


def _packed(name: str, value: Any) -> NDArray[Any]:
    if name in _PLAIN:
        return np.array(json.dumps(value))
    return np.asarray(value, _DTYPES.get(name, np.float64))


def _unpacked(name: str, value: NDArray[Any]) -> Any:
    if name in _PLAIN:
        return json.loads(str(value))
    return value.astype(np.float64) if value.ndim else float(value)


EVERY_TICKS = 10  # a trace keeps one state in so many ticks


class TraceRecorder:
    """Takes the messages of one trial; messages of one topic must come in their order.

    States and plans are kept as the robot's start sees them.

    The plan that is kept is the first one from an estimate that could know of the first
    perturbation: the reading of the tick at which that begins is still free of it.
    """

    def __init__(self, config: LaunchConfig, events: list[float] | None = None) -> None:
        """Of a trial with this configuration.

        Args:
            config: of the trial.
            events: when perturbations began [s], where the configuration does not say.

        Raises:
            BadRequest: an event names a phase that the reference does not have.
        """
        self._events = event_times(config) if events is None else events
        self._first_event = min((round(at / TICK_S) for at in self._events), default=math.inf)
        self._gait = gait_clock(config)
        self._seen = StartAxes(config).to_local
        self._newest: GroundTruth | None = None
        self._push = -1  # number of the last push by hand
        self._origin: float | None = None  # what clocks said at tick 0 [s]; 0 in lock step
        self._due = 0  # first tick of which the state is wanted
        self._states: list[tuple[float, Array, Array]] = []
        self._goal_watch = GoalWatch(config) if config.is_driven else None
        self._goals: list[tuple[float, Goal]] = []
        self._solve_ms: list[float] = []
        self._statuses, self._commands = Counter[str](), Counter[str]()
        self._plan: Plan | None = None
        self._search: LineSearch | None = None

    def add(self, tick: Tick) -> None:
        """Take what happened in one tick of a run in lock step."""
        for message in (tick.truth, tick.command, tick.plan, tick.search):
            self.take(message)

    def take(self, message: Any) -> None:
        """Take a message in; those that a trace does not need are passed over."""
        watch = self._goal_watch
        if isinstance(message, GroundTruth):
            self._take_truth(self._seen(message))
        elif isinstance(message, MotorCommand):
            self._commands[message.status] += 1
        elif isinstance(message, Plan):
            self._statuses[message.status] += 1
            self._solve_ms.append(1e3 * message.solve_s)
            # A recording keeps the knots of some plans alone.
            usable = message.status != "failed" and len(message.inputs) > 0
            if self._plan is None and usable and message.tick > self._first_event:
                self._plan = self._seen(message)
        elif isinstance(message, LineSearch):
            if self._search is None and message.tick > self._first_event:
                self._search = message
        elif isinstance(message, Push):
            # By hand, at the newest state; one that comes again is the same.
            if self._newest is not None and message.sequence != self._push:
                self._push = message.sequence
                self._events = sorted([*self._events, TICK_S * self._newest.tick])
                self._first_event = round(self._events[0] / TICK_S)
        elif watch is not None and isinstance(message, Command):
            watch.offer(message)
        elif watch is not None and isinstance(message, RobotStatus):
            watch.note(message)

    def _take_truth(self, truth: GroundTruth) -> None:
        self._newest = truth
        if self._origin is None:
            self._origin = truth.time - TICK_S * truth.tick
        if truth.tick >= self._due:
            self._due = truth.tick - truth.tick % EVERY_TICKS + EVERY_TICKS
            self._states.append((truth.time - self._origin, truth.q, truth.contact))
        if self._goal_watch is not None:
            goal = self._goal_watch.at(truth.time)
            if not self._goals or goal != self._goals[-1][1]:
                self._goals.append((truth.time - self._origin, goal))

    def trace(self, solve_ms: Sequence[float] | None = None) -> Trace:
        """What has been taken in.

        Args:
            solve_ms: how long the solves took, (S,) [ms], where the plans do not say: in lock step.
        """
        time, q, contact = zip(*self._states, strict=True) if self._states else ((), (), ())
        plan, search, kept = self._plan, self._search, dict[str, Any]()
        if plan is not None:
            kept |= {"plan_time": plan.time - (self._origin or 0.0), "plan_period": plan.period,
                     "plan_contacts": plan.contacts, "plan_q": plan.states_q}  # fmt: skip
        if search is not None:
            kept |= {"step_sizes": search.step_sizes, "costs": search.costs}
        return Trace(
            time=np.array(time), q=_stack(q, 19), contact=_stack(contact, 4),
            planned=planned_contacts(self._gait, time),
            solve_ms=np.array(self._solve_ms if solve_ms is None else solve_ms),
            statuses=dict(self._statuses), commands=dict(self._commands), events=self._events,
            goals=_stack([goal_row(*each) for each in self._goals], 5), **kept,
        )  # fmt: skip


def goal_row(since: float, goal: Goal) -> list[float]:
    """A goal as `Trace.goals` has it; one to stand is one of no velocity."""
    velocity = (0.0,) * 3 if goal.gait == "stand" else goal[:3]
    return [since, *velocity, float(list(GAITS).index(goal.gait))]


def planned_contacts(gait: Gait | ScriptClock | None, times: Sequence[float] | Array) -> Array:
    """Contacts of a gait's schedule at ``times`` (T,) [s]: (T, 4), all ones without a gait."""
    if gait is None:
        return np.ones((len(times), 4))
    return _stack([gait.contacts(float(time)) for time in times], 4)


def _stack(rows: Sequence[Any], width: int) -> Array:
    return np.array(rows, dtype=np.float64).reshape(len(rows), width)


class RecordedPush(NamedTuple):
    """A push that an emulated robot has had: its own clock [ms], and the velocity added [m/s]."""

    tick: int
    value: list[float]


TAKEN = (GROUND_TRUTH, MOTOR_COMMAND, PLAN, LINE_SEARCH, COMMAND, PUSH, ROBOT_STATUS)


def trace_of_run(folder: Path) -> Trace:
    """Read the recording of a run.

    A recording that was cut off gives the trace of what it holds. Motor commands count while the
    robot lives: by the clock the tracker sends them before its first state and after its last. A
    robot behind the bridge stands up first: its time 0 is the first estimate, as the planner's is,
    and only commands count that were sent while it ran.

    Raises:
        BadRequest: the folder holds no run, or one that another version recorded.
    """
    config = config_of_run(folder)
    first, begin = _first_estimate(folder) if config.kind.bridged else (0, 0.0)
    events = [TICK_S * (push.tick - first) for push in pushes_of_run(folder)]
    recorder = TraceRecorder(config, event_times(config) or events)
    commands, lived = list[MotorCommand](), list[float]()
    halts: list[float] = []  # when a bridge no longer ran the tracker's commands
    for _, message in messages_of_run(folder, TAKEN):
        if not isinstance(message, Command | Push):  # those have their senders' own clocks
            if message.time < begin:
                continue
            if begin:
                message = replace(message, tick=message.tick - first, time=message.time - begin)
            if isinstance(message, GroundTruth):
                lived.append(message.time)
            if isinstance(message, RobotStatus) and message.state != "running":
                halts.append(message.time)
        if isinstance(message, MotorCommand):
            commands.append(message)
        else:
            recorder.take(message)
    end = min([*lived[-1:], *halts], default=0.0)
    for command in commands:
        if lived and lived[0] <= command.time <= end:
            recorder.take(command)
    return recorder.trace()


def config_of_run(folder: Path) -> LaunchConfig:
    """The configuration that a run was made with.

    Raises:
        BadRequest: the folder holds none, or one of another version.
    """
    path = folder / "launch.yaml"
    with readable(folder):
        path.stat()
    return make_config(read_mapping(path), str(path))


def pushes_of_run(folder: Path) -> list[RecordedPush]:
    """What the emulator says that it pushed its robot by; empty where there is no report of it."""
    try:
        summary = summary_of_run(folder) or {}
        pushes = summary.get("processes", {}).get("emulator", {}).get("pushes", [])
        return msgspec.convert(pushes, list[RecordedPush])
    except (ValueError, AttributeError):
        return []


def _first_estimate(folder: Path) -> tuple[int, float]:
    """Tick and time [s] of a bridged robot's first run; the end of time if it never ran."""
    _, first = next(messages_of_run(folder, (STATE_ESTIMATE,)), ("", None))
    return (0, math.inf) if first is None else (first.tick, first.time)
