"""The messages of a black box, beside those of a launch."""

from hw_bridge.black_box.pipe import Way
from runtime.messages import Message
from runtime.topics import Topic


class RobotFrame(Message, frozen=True):
    """A frame as it was on the wire (`hw_bridge.wire.layout`)."""

    time: float  # [s] monotonic: when it arrived, or was sent
    way: Way
    data: bytes


class RunText(Message, frozen=True):
    """A piece of a text file of the run, such as a log; pieces of a file follow each other."""

    time: float  # [s] monotonic: when it was read
    file: str  # within the run's folder
    text: str


ROBOT_FRAME = Topic("robot_frame", RobotFrame, 2000.0, 1.0)
RUN_TEXT = Topic("run_text", RunText, 1.0, 2.0)
