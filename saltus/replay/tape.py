"""A recorded run as a replay reads it: its configuration, and its messages one by one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from runtime.messages import decode
from runtime.recording import read_frames
from runtime.topics import COMMAND, ROBOT_STATUS, SENSOR_READING, TUNING, Topic
from saltus.common.errors import BadRequest
from saltus.configuration.launch import LaunchConfig, make_config
from saltus.recording.reading import readable
from saltus.recording.run import Run
from saltus.replay.comparison import COMPARED

NEEDED = (SENSOR_READING, *COMPARED)


class Taped(NamedTuple):
    """A recorded message, its topic, and when it was recorded [ns]."""

    topic: Topic[Any]
    message: Any
    log_time_ns: int


class Tape:
    """A recorded run.

    Attributes:
        run: the same as arrays.
        config: what was launched.
    """

    def __init__(self, path: Path) -> None:
        """Open a run folder, or its recording, with the launch file beside it.

        Raises:
            BadRequest: there is no recording, one of another format, without a topic that is
                needed, or without a launch file that this version accepts.
        """
        self.run = Run(path)
        missing = [topic.name for topic in NEEDED if topic.name not in self.run]
        if missing:
            there = ", ".join(self.run.topics) or "nothing"
            raise BadRequest(f"{path}: nothing of {', '.join(missing)} recorded; there is: {there}")
        file = self.run.file.parent / "launch.yaml"
        if not self.run.config:
            raise BadRequest(f"{file}: not there, or empty; it says what was launched")
        self.config: LaunchConfig = make_config(self.run.config, str(file))

    @property
    def tunings(self) -> int:
        """How often somebody changed the planner's options by hand."""
        return self.run.topics.get(TUNING.name, 0)

    def messages(self) -> Iterator[Taped]:
        """All that a replay needs, in recorded order.

        Raises:
            BadRequest: the recording is damaged, or another version made it.
        """
        topics = {topic.name: topic for topic in (*NEEDED, COMMAND, ROBOT_STATUS)}
        with readable(self.run.file):
            for frame in read_frames(self.run.file):
                if topic := topics.get(frame.topic):
                    yield Taped(topic, decode(topic.message, frame.data), frame.log_time_ns)
