"""The trace of a run that ``saltus launch --record`` has left in a folder."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from runtime.messages import MotorCommand
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
from saltus.configuration.launch import TICK_S, LaunchConfig, make_config
from saltus.configuration.options import read_mapping
from saltus.launch.assembly import event_times
from saltus.recording.reading import messages_of_run, summary_of_run
from saltus.trace.recorder import TraceRecorder
from saltus.trace.trace import Trace


class RunInstant(NamedTuple):
    """An instant of a run: tick, and time [s]."""

    tick: int
    time: float


class RecordedPush(NamedTuple):
    """A push that an emulated robot has had: its own clock [ms], and the velocity added [m/s]."""

    tick: int
    value: list[float]


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
    zero = _first_estimate(folder) if config.kind.bridged else RunInstant(0, 0.0)
    events = [TICK_S * (push.tick - zero.tick) for push in pushes_of_run(folder)]
    recorder = TraceRecorder(config, event_times(config) or events)
    commands: list[MotorCommand] = []
    lived: list[float] = []
    halts: list[float] = []  # when a bridge no longer ran the tracker's commands
    takers: dict[str, list[Callable[[Any], None]]] = {
        GROUND_TRUTH.name: [recorder.add_truth, lambda truth: lived.append(truth.time)],
        MOTOR_COMMAND.name: [commands.append],
        PLAN.name: [recorder.add_plan], LINE_SEARCH.name: [recorder.add_search],
        COMMAND.name: [recorder.add_driver], PUSH.name: [recorder.add_push],
        ROBOT_STATUS.name: [
            recorder.add_status,
            lambda s: halts.append(s.time) if s.state != "running" else None,
        ],
    }  # fmt: skip
    for topic, message in messages_of_run(folder):
        own_clock = topic in (COMMAND.name, PUSH.name)  # of its sender
        if topic in takers and (own_clock or message.time >= zero.time):
            if zero.time and not own_clock:
                message = _since(message, zero)
            for take in takers[topic]:
                take(message)
    end = min([*lived[-1:], *halts], default=0.0)
    for command in commands:
        if lived and lived[0] <= command.time <= end:
            recorder.add_command(command)
    return recorder.trace()


def config_of_run(folder: Path) -> LaunchConfig:
    """The configuration that a run was made with.

    Raises:
        BadRequest: the folder holds none, or one of another version.
    """
    path = folder / "launch.yaml"
    return make_config(read_mapping(path), str(path))


def pushes_of_run(folder: Path) -> list[RecordedPush]:
    """What the emulator says that it pushed its robot by; empty where there is no report of it."""
    try:
        summary = summary_of_run(folder) or {}
        pushes = summary.get("processes", {}).get("emulator", {}).get("pushes", [])
        return msgspec.convert(pushes, list[RecordedPush])
    except (ValueError, AttributeError):
        return []


def _first_estimate(folder: Path) -> RunInstant:
    """When a robot behind the bridge ran for the first time; the end of time if it never did."""
    _, first = next(messages_of_run(folder, (STATE_ESTIMATE,)), ("", None))
    return RunInstant(0, math.inf) if first is None else RunInstant(first.tick, first.time)


def _since(message: Any, zero: RunInstant) -> Any:
    """The message, its clocks set to 0 at that instant."""
    return msgspec.structs.replace(
        message, tick=message.tick - zero.tick, time=message.time - zero.time
    )
