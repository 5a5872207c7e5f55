"""Which of the received datagrams are believed to be the robot's newest state."""

import logging
from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

from hw_bridge.finite_frame import is_finite
from hw_bridge.link import Datagram
from hw_bridge.robot_time import RobotTime
from hw_bridge.tick_order import TickOrder
from hw_bridge.wire.frame import frame_fault
from hw_bridge.wire.header import Header
from hw_bridge.wire.layout import HEADER, LOW_STATE, LOW_STATE_SIZE
from hw_bridge.wire.low_state import LowState, read_low_state

LOG = logging.getLogger(__name__)
MOST_SAMPLES: Final = 10  # that one call reads, so that a flood cannot hold the loop up
LAG_S: Final = 0.1  # [s] beyond which a frame that comes late is worth a log line

_HEADER: Final = HEADER.itemsize
assert LOW_STATE.fields is not None
_TICK: Final = slice(LOW_STATE.fields["tick"][1], LOW_STATE.fields["tick"][1] + 4)
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

    state: LowState
    arrival: float  # at this machine [s], monotonic
    time: float  # when it was measured, as far as arrivals tell [s], monotonic
    tick: int  # of the stack: ms on the robot's clock, which goes on where a u32 wraps


class Intake:
    """Believes whole, new frames of one robot, and counts the others. Never raises.

    Attributes:
        header: of the first believed frame; all later ones must have the same.
        last: the newest believed frame.
        overtaken: those before it that the last call of `take` believed, in their order; of many
            the newest.
        counts: of datagrams by what became of them, each counted once: ``accepted``; ``overtaken``,
            believed, but a newer one came in the same batch; or why it was refused:
            ``wrong_sender``, ``length``, ``crc``, ``header``, ``not_finite`` (IMU, or q or dq of
            the 12 motors), ``duplicate``, ``old``, ``leap`` (see `TickOrder`). The first refusal
            of each kind is one log line.
    """

    def __init__(self, robot: tuple[str, int], tick_unit_s: float) -> None:
        """Take the robot's address and port and the length of its tick [s]."""
        self.header: Header | None = None
        self.last: Sample | None = None
        self.overtaken: list[Sample] = []
        self.counts: Counter[str] = Counter()
        self._robot, self._unit = robot, tick_unit_s
        self._header_bytes = b""
        self._order = TickOrder(tick_unit_s)
        self._clock = RobotTime(tick_unit_s)
        self._lagged = False

    def take(self, datagrams: Iterable[Datagram]) -> Sample | None:
        """The newest believed frame among `datagrams`, in order of arrival; None without one."""
        believed: list[tuple[Datagram, float, int]] = []
        for datagram in datagrams:
            reason = self._refusal(datagram)
            if reason is not None:
                self._refuse(reason, datagram)
                continue
            believed.append((datagram, *self._believe(datagram)))
        if not believed:
            self.overtaken = []
            return None
        self.counts["accepted"] += 1
        if len(believed) > 1:
            self.counts["overtaken"] += len(believed) - 1
        *self.overtaken, self.last = map(_sample, believed[-MOST_SAMPLES:])
        return self.last

    def _refusal(self, datagram: Datagram) -> str | None:
        """Why a datagram is not believed, cheapest checks first; None if it is."""
        frame = datagram.data
        if datagram.sender != self._robot:
            return "wrong_sender"
        if fault := frame_fault(frame, LOW_STATE_SIZE):
            return fault.value
        if self._header_bytes and frame[:_HEADER] != self._header_bytes:
            return "header"
        if not is_finite(frame):
            return "not_finite"
        return self._order.judge(_tick(frame), datagram.arrival)

    def _refuse(self, reason: str, datagram: Datagram) -> None:
        self.counts[reason] += 1
        if self.counts[reason] == 1:
            LOG.warning(
                "intake: ignored %d bytes from %s port %d (%s): %s; more of these are only counted",
                len(datagram.data), *datagram.sender, reason, _MEANING[reason],
            )  # fmt: skip

    def _believe(self, datagram: Datagram) -> tuple[float, int]:
        """Note a believed frame; its time [s] and the stack's tick."""
        frame, arrival = datagram.data, datagram.arrival
        if self.header is None:
            self._header_bytes = frame[:_HEADER]
            self.header = read_low_state(frame).header
            LOG.info("intake: the robot at %s port %d answers, %s", *self._robot, self.header)
        tick = _tick(frame)
        self._order.accept(tick, arrival)
        instant = self._clock.place(tick, arrival)
        if self._clock.lag > LAG_S and not self._lagged:
            self._lagged = True
            LOG.warning(
                "intake: a frame came %.2f s after its tick says: held up on the way, or the "
                "robot's tick is longer than tick_unit_s (%g s)", self._clock.lag, self._unit,
            )  # fmt: skip
        return instant.time, instant.tick


def _sample(believed: tuple[Datagram, float, int]) -> Sample:
    datagram, time, tick = believed
    return Sample(read_low_state(datagram.data), datagram.arrival, time, tick)


def _tick(frame: bytes) -> int:
    """The robot's clock (u32) in a whole frame."""
    return int.from_bytes(frame[_TICK], "little")
