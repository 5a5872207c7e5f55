"""The trace of a run that ``saltus launch --record`` has left in a folder."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from runtime.messages import DecodeError, MotorCommand
from runtime.recording import read_recording
from runtime.topics import COMMAND, GROUND_TRUTH, LINE_SEARCH, MOTOR_COMMAND, PLAN, PUSH
from saltus.configuration import LaunchConfig, make_config
from saltus.errors import BadRequest
from saltus.options import read_mapping
from saltus.trace.recorder import TraceRecorder
from saltus.trace.trace import Trace


def trace_of_run(folder: Path) -> Trace:
    """Read the recording of a run.

    A recording that was cut off gives the trace of what it holds. Motor commands count while the
    robot lives: by the clock the tracker sends them before its first state and after its last.

    Raises:
        BadRequest: the folder holds no run, or one that another version recorded.
    """
    recorder = TraceRecorder(config_of_run(folder))
    commands: list[MotorCommand] = []
    lived: list[float] = []
    takers: dict[str, list[Callable[[Any], None]]] = {
        GROUND_TRUTH.name: [recorder.add_truth, lambda truth: lived.append(truth.time)],
        MOTOR_COMMAND.name: [commands.append],
        PLAN.name: [recorder.add_plan], LINE_SEARCH.name: [recorder.add_search],
        COMMAND.name: [recorder.add_driver], PUSH.name: [recorder.add_push],
    }  # fmt: skip
    try:
        for topic, message in read_recording(folder / "run.mcap"):
            for take in takers.get(topic, ()):
                take(message)
    except OSError as error:
        raise BadRequest(f"{folder}: holds no recorded run: {error.strerror or error}") from error
    except (DecodeError, ValueError) as error:
        raise BadRequest(f"{folder}: recorded by another version? {error}") from error
    for command in commands:
        if lived and lived[0] <= command.time <= lived[-1]:
            recorder.add_command(command)
    return recorder.trace()


def config_of_run(folder: Path) -> LaunchConfig:
    """The configuration that a run was made with.

    Raises:
        BadRequest: the folder holds none, or one of another version.
    """
    path = folder / "launch.yaml"
    return make_config(read_mapping(path), str(path))
