"""The messages of a black box, beside those of a launch."""

from typing import Final

from hw_bridge.black_box.pipe import WAYS, Way
from runtime.messages import Message
from runtime.topics import Topic


class RobotFrame(Message, frozen=True):
    """A frame as it was on the wire (`hw_bridge.wire.layout`)."""

    time: float  # [s] monotonic: when it arrived, or was sent
    data: bytes


class RunText(Message, frozen=True):
    """A piece of a text file of the run, such as a log; pieces of a file follow each other."""

    time: float  # [s] monotonic: when it was read
    file: str  # its path from the run's folder on, with that
    text: str


FRAMES: Final[dict[Way, Topic[RobotFrame]]] = {
    way: Topic(way, RobotFrame, 1000.0, 1.0) for way in WAYS
}  # fmt: skip
RUN_TEXT: Final = Topic("run_text", RunText, 1.0, 2.0)
