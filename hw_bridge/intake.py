"""Which of the received datagrams are believed to be the robot's newest state."""

import logging
from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hw_bridge.link import Datagram
from hw_bridge.robot_time import RobotTime
from hw_bridge.sensing_options import SensingOptions
from hw_bridge.take_in import FAULTS, NUMBERS, READING, ROW, examine
from hw_bridge.wire.header import Header
from hw_bridge.wire.layout import HEADER, LOW_STATE_SIZE
from hw_bridge.wire.low_state import LowState, read_low_state
from runtime.messages import SensorReading
from runtime.rows import layout_of

LOG = logging.getLogger(__name__)
MOST_SAMPLES: Final = 10  # that one call reads, so that a flood cannot hold the loop up
LAG_S: Final = 0.1  # [s] beyond which a frame that comes late is worth a log line

Array = NDArray[np.float64]
_HEADER: Final = HEADER.itemsize
_MEANING: Final = {
    "wrong_sender": "not the robot's address and port",
    "length": f"a LowState frame has {LOW_STATE_SIZE} bytes",
    "crc": "the checksum is wrong",
    "header": "another header than the robot's first good frame had",
    "not_finite": "a number of the IMU or of a joint is not finite",
    "duplicate": "the tick of the last frame once more",
    "old": "a tick before the last frame's: overtaken on the way, a replay, or the robot restarted",
    "leap": "a tick far ahead of our clock: a replay of another session, or tick_unit_s is wrong",
}


class Sample(NamedTuple):
    """A believed frame."""

    frame: bytes
    row: Array  # (78), see `take_in`
    numbers: Array  # (75) of it, see `take_in`

    @property
    def tick(self) -> int:
        """Of the stack: ms on the robot's clock, which goes on where a u32 wraps."""
        return int(self.row[0])

    @property
    def time(self) -> float:
        """When it was measured, as far as arrivals tell [s], monotonic."""
        return float(self.row[1])

    @property
    def arrival(self) -> float:
        """At this machine [s], monotonic."""
        return float(self.row[-1])

    @property
    def reading(self) -> SensorReading:
        """As the stack's message, not decoded yet."""
        return layout_of(SensorReading).view(self.row[READING])

    @property
    def state(self) -> LowState:
        """The whole frame, decoded."""
        return read_low_state(self.frame)


def sample_of(frame: bytes, row: Array) -> Sample:
    """A frame with its row (78)."""
    return Sample(frame, row, row[2 : 2 + NUMBERS])


class Intake:
    """Believes whole, new frames of one robot, and counts the others. Never raises.

    Attributes:
        header: of the first believed frame; all later ones must have the same.
        last: the newest believed frame.
        earlier_samples: those before it that the last call of `take` believed, in their order; of
            many the newest.
        counts: of datagrams by what became of them, each counted once: ``accepted``; ``overtaken``,
            believed, but a newer one came in the same batch; or why it was refused:
            ``wrong_sender``, ``length``, ``crc``, ``header``, ``not_finite`` (IMU, or q or dq of
            the 12 motors), ``duplicate``, ``old``, ``leap`` (see `robot_time.order`). The first
            refusal of each kind is one log line.
    """

    def __init__(
        self, robot: tuple[str, int], tick_unit_s: float, sensing: SensingOptions | None = None
    ) -> None:
        """Compile what is compiled.

        Args:
            robot: its address and port.
            tick_unit_s: the length of its tick [s].
            sensing: the calibration of its feet.
        """
        self.header: Header | None = None
        self.last: Sample | None = None
        self.earlier_samples: list[Sample] = []
        self.counts: Counter[str] = Counter()
        self._robot, self._unit = robot, tick_unit_s
        self._header_bytes = np.empty(0, np.uint8)
        sensing = sensing or SensingOptions()
        self._calibration = np.array([*sensing.foot_force_offset, sensing.foot_force_scale])
        self._clock = RobotTime(tick_unit_s)
        self._examine(bytes(LOW_STATE_SIZE), 0.0)
        self._lagged = False

    def take(self, datagrams: Iterable[Datagram]) -> Sample | None:
        """The newest believed frame among `datagrams`, in order of arrival; None without one."""
        believed: list[Sample] = []
        for datagram in datagrams:
            reason, sample = self._judge(datagram)
            if sample is None:
                self._refuse(reason, datagram)
            else:
                believed.append(sample)
        if not believed:
            self.earlier_samples = []
            return None
        self.counts["accepted"] += 1
        if len(believed) > 1:
            self.counts["overtaken"] += len(believed) - 1
        *self.earlier_samples, self.last = believed[-MOST_SAMPLES:]
        return self.last

    def _judge(self, datagram: Datagram) -> tuple[str, Sample | None]:
        """Why a datagram is not believed, cheapest checks first; else "" and its sample."""
        frame = datagram.data
        if datagram.sender != self._robot:
            return "wrong_sender", None
        if len(frame) != LOW_STATE_SIZE:
            return "length", None
        fault, row = self._examine(frame, datagram.arrival)
        if fault:
            return FAULTS[fault], None
        if self.header is None:
            self._header_bytes = np.frombuffer(frame[:_HEADER], np.uint8).copy()
            self.header = read_low_state(frame).header
            LOG.info("intake: the robot at %s port %d answers, %s", *self._robot, self.header)
        if not self._lagged and self._clock.lag > LAG_S:
            self._lagged = True
            LOG.warning(
                "intake: a frame came %.2f s after its tick says: held up on the way, or the "
                "robot's tick is longer than tick_unit_s (%g s)", self._clock.lag, self._unit,
            )  # fmt: skip
        return "", sample_of(frame, row)

    def _examine(self, frame: bytes, arrival: float) -> tuple[int, Array]:
        """The fault of a frame of the right length, 0 if it has none, and its row."""
        row, data = np.empty(ROW), np.frombuffer(frame, np.uint8)
        clock = self._clock.record
        return examine(data, self._header_bytes, self._calibration, clock, arrival, row), row

    def _refuse(self, reason: str, datagram: Datagram) -> None:
        self.counts[reason] += 1
        if self.counts[reason] == 1:
            LOG.warning(
                "intake: ignored %d bytes from %s port %d (%s): %s; more of these are only counted",
                len(datagram.data), *datagram.sender, reason, _MEANING[reason],
            )  # fmt: skip
