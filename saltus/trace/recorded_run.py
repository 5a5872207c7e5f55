"""The trace of a run that ``saltus launch --record`` has left in a folder."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from runtime.messages import DecodeError
from runtime.recording import read_recording
from runtime.topics import GROUND_TRUTH, LINE_SEARCH, MOTOR_COMMAND, PLAN
from saltus.configuration import LaunchConfig, make_config
from saltus.errors import BadRequest
from saltus.options import read_mapping
from saltus.trace.recorder import TraceRecorder
from saltus.trace.trace import Trace


def trace_of_run(folder: Path) -> Trace:
    """Read the recording of a run.

    A recording that was cut off gives the trace of what it holds.

    Raises:
        BadRequest: the folder holds no run, or one that another version recorded.
    """
    recorder = TraceRecorder(config_of_run(folder))
    takers: dict[str, Callable[[Any], None]] = {
        GROUND_TRUTH.name: recorder.add_truth, MOTOR_COMMAND.name: recorder.add_command,
        PLAN.name: recorder.add_plan, LINE_SEARCH.name: recorder.add_search,
    }  # fmt: skip
    try:
        for topic, message in read_recording(folder / "run.mcap"):
            if topic in takers:
                takers[topic](message)
    except OSError as error:
        raise BadRequest(f"{folder}: holds no recorded run: {error.strerror or error}") from error
    except (DecodeError, ValueError) as error:
        raise BadRequest(f"{folder}: recorded by another version? {error}") from error
    return recorder.trace()


def config_of_run(folder: Path) -> LaunchConfig:
    """The configuration that a run was made with.

    Raises:
        BadRequest: the folder holds none, or one of another version.
    """
    path = folder / "launch.yaml"
    return make_config(read_mapping(path), str(path))
