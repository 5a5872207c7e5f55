"""The messages of a recorded run, for all that shows or measures one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from robots.planar_pose import PlanarPose
from runtime.messages import GroundTruth, Plan, PlanOutline, StateEstimate
from runtime.recording import Gap, is_whole, read_frames, read_recording
from runtime.topics import TOPICS
from saltus.common.console import say
from saltus.common.errors import BadRequest
from saltus.common.files import is_file, read_json

if TYPE_CHECKING:
    from saltus.configuration.launch import LaunchConfig


def recording_file(run: Path) -> Path:
    """The recording that a person named: by its run folder, or the file itself."""
    return run if run.suffix == ".mcap" or is_file(run) else run / "run.mcap"


def messages_of_run(run: Path) -> Iterator[Any]:
    """The messages of a run, in recorded order.

    A recording that was cut off or damaged gives what it holds, and says so in one line.

    Raises:
        BadRequest: there is no recording, or one that another version made.
    """
    file, empty, gaps = recording_file(run), True, list[Gap]()
    with readable(run):
        whole = is_whole(file)
        for _, message in read_recording(file, TOPICS, gaps):
            empty = False
            yield message
    if not (empty or (whole and not gaps)):
        what = damage_of(file, gaps) if gaps else "was cut off"
        say(f"{file} {what}; what it holds is taken")


def damage_of(file: Path, gaps: Sequence[Gap]) -> str:
    """Missing seconds of a recording, since its first frame, in words."""
    first = next(read_frames(file), None)
    start_ns = 0 if first is None else first.log_time_ns
    spans = [
        "its beginning" if gap.after_ns is None
        else f"all after {1e-9 * (gap.after_ns - start_ns):.2f} s" if gap.before_ns is None
        else f"{1e-9 * (gap.after_ns - start_ns):.2f} to {1e-9 * (gap.before_ns - start_ns):.2f} s"
        for gap in gaps
    ]  # fmt: skip
    return f"is damaged: {', '.join(spans)} may lack messages"


@contextmanager
def readable(run: Path) -> Iterator[None]:
    """Turn the reason why a recording cannot be read into one line.

    Raises:
        BadRequest: something within raised OSError, ValueError or DecodeError.
    """
    try:
        yield
    except OSError as error:
        raise BadRequest(
            f"{run}: holds no recorded run: {error.strerror or error}; make one with "
            "`saltus launch NAME --record DIR`"
        ) from error
    except ValueError as error:
        raise BadRequest(f"{run}: damaged, or recorded by another version? {error}") from error


def summary_of_run(folder: Path) -> dict[str, Any] | None:
    """Summary that a launch printed at its end; None where there is nothing, or half of it."""
    return read_json(folder / "summary.json")


class StartAxes:
    """Moves states and plans of a launch to its start; of a real robot nothing is moved."""

    def __init__(self, config: LaunchConfig) -> None:
        """Take the axes of a launch, or of a run of it."""
        self._true = PlanarPose() if config.kind.real else config.simulation.start.pose
        self._estimated = PlanarPose(yaw=self._true.yaw)  # estimates begin at x = y = 0

    def to_local(self, message: Any) -> Any:
        """A message; others than states and plans stay as they are."""
        if not any(self._true):
            return message
        if isinstance(message, GroundTruth):
            force = PlanarPose(yaw=-self._true.yaw).points_to_world(message.foot_force)
            return replace(message, q=self._true.to_local(message.q), foot_force=force)
        if isinstance(message, StateEstimate):
            return replace(message, q=self._estimated.to_local(message.q))
        if isinstance(message, Plan | PlanOutline):
            return replace(message, states_q=self._estimated.to_local(message.states_q))
        return message
