"""Choice of the robot's newest state among the received datagrams.

One compiled look at a LowState frame judges it and makes a row of it (`examine`); the robot's clock
on ours says which frame may follow which, and when each was measured. `hw_bridge.wire.frame`
decodes whole frames; its numbers are the same.
"""

import logging
from collections import Counter
from collections.abc import Iterable
from typing import Final

import msgspec
import numpy as np
from numba import njit
from numpy.typing import NDArray

from hw_bridge.link import Datagram
from hw_bridge.options import SensingOptions
from hw_bridge.wire.frame import LowState, checksum, read_low_state
from hw_bridge.wire.layout import (
    ANGLE,
    COUNTS,
    EFFORT,
    FEET,
    FIRST_MOTOR,
    IMU,
    IN_SERVO,
    JOINTS,
    SERVO,
    STRIDE,
    TEMPERATURE_AT,
    TICK,
    Header,
    Wire,
)
from hw_bridge.wire.layout import MODE as MODE_AT
from runtime.messages import SensorReading
from runtime.rows import layout_of

Array = NDArray[np.float64]

STACK_TICK: Final = 1e-3  # [s] the stack's own tick
LARGEST_DRIFT: Final = 200e-6  # [s/s] two clocks apart; quartz of a computer's is within 100e-6
WRAP: Final = 1 << 32  # the robot's tick is a u32
LEAP_S: Final = 0.5  # [s] by which the robot's clock may be ahead of ours
LEAP_RATE: Final = 0.25  # by which it may run faster than ours, for any length of time

IN_ORDER, DUPLICATE, OLD, LEAP = 0, 4, 5, 6  # beside the faults of `take_in`
DISORDERS: Final = {DUPLICATE: "duplicate", OLD: "old", LEAP: "leap"}

# The record of a clock: length of a tick [s], whether a frame was seen; of the last frame: tick as
# received, without the wrap, arrival, by how much its clock was ahead, when it was measured [s].
_UNIT, _SEEN, _TICK, _TICKS, _ARRIVAL, _AHEAD, _TIME = range(7)


@njit(cache=True)
def ticks_between(earlier: int, later: int) -> int:
    """Return the ticks from one to the other, modulo 2^32: in [-2^31, 2^31)."""
    return (later - earlier + WRAP // 2) % WRAP - WRAP // 2


def new_clock(unit_s: float) -> Array:
    """A record of a clock whose tick lasts `unit_s` [s]; nothing seen."""
    return np.array([unit_s, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])


@njit(cache=True)
def follow(clock: Array, tick: int, arrival: float, row: Array) -> int:
    """Take a frame as the last one; IN_ORDER, or what is wrong with it, and then it is not taken.

    A leap is a frame of another session that is played back, or a wrong idea of the tick's
    length. What counts is how far the robot's clock is ahead of its smoothest relation to ours so
    far, forgiven at a rate of 25 %: many short leaps are as bad as a long one, while frames that a
    queue held up and lets go all at once are none.

    With r the robot's own time and a the arrival of each frame k, it was measured at

        time_k = min(a_k, time_(k-1) + (1 + 200e-6) (r_k - r_(k-1))).

    So time - r is the least of a - r that was seen, and rises by at most 200e-6 to follow a robot's
    clock that is slow against ours. Times are never after their arrival and never go back. A
    constant delay cannot be told from a difference of clocks: ages that come of these times are too
    small by the least delay. A clock slower than 200e-6 shows as a lag that grows, so the state of
    such a robot looks old, not fresh.

    Args:
        clock: the record.
        tick: as received (u32); it may wrap around.
        arrival: of the frame on our monotonic clock [s], not before the last one's.
        row: begins with the stack's tick and the time [s] of the frame, written here.
    """
    unit = clock[_UNIT]
    if clock[_SEEN] == 0.0:
        clock[_SEEN], clock[_TICKS], clock[_TIME] = 1.0, tick, arrival
    else:
        elapsed = ticks_between(int(clock[_TICK]), tick)
        if elapsed <= 0:
            return OLD if elapsed < 0 else DUPLICATE
        waited = arrival - clock[_ARRIVAL]
        ahead, forgiven = clock[_AHEAD] + elapsed * unit - waited, LEAP_RATE * max(0.0, waited)
        if ahead - forgiven > LEAP_S:
            return LEAP
        drift = LARGEST_DRIFT * elapsed * unit
        clock[_AHEAD] = max(0.0, ahead - forgiven) if ahead > 0.0 else min(0.0, ahead + drift)
        clock[_TICKS] += elapsed
        clock[_TIME] = min(arrival, clock[_TIME] + (1.0 + LARGEST_DRIFT) * elapsed * unit)
    clock[_TICK], clock[_ARRIVAL] = tick, arrival
    row[0], row[1] = round(clock[_TICKS] * unit / STACK_TICK), clock[_TIME]
    return IN_ORDER


Bytes = NDArray[np.uint8]

CRC, ANOTHER_HEADER, NOT_FINITE = 1, 2, 3
FAULTS: Final = {
    CRC: "crc", ANOTHER_HEADER: "header", NOT_FINITE: "not_finite", **DISORDERS
}  # fmt: skip

# Where the numbers of a frame stand once they are taken in.
QUATERNION: Final = slice(0, 4)  # x, y, z, w of the IMU, of unit length unless all are zero
GYROSCOPE: Final = slice(4, 7)  # [rad/s]
TRUNK: Final = slice(0, 7)  # both
ACCELEROMETER: Final = slice(7, 10)  # [m/s^2]
Q: Final = slice(10, 22)  # of motors 0 to 11 [rad]
DQ: Final = slice(22, 34)  # [rad/s]
TORQUE: Final = slice(34, 46)  # [N m]
FOOT_FORCE: Final = slice(46, 50)  # calibrated [N]
SQUARE: Final = 50  # of the quaternion's length as it came
MODE: Final = slice(51, 63)
TEMPERATURE: Final = slice(63, 75)  # [deg C]
NUMBERS: Final = 75

# A row: those of `SensorReading`, of which the first numbers are the last, and what follows them.
READING: Final = slice(0, layout_of(SensorReading).width)
ROW: Final = 2 + NUMBERS + 1  # tick and time of the stack; the numbers; arrival [s]
assert READING.stop == 2 + FOOT_FORCE.stop
_NUMBERS: Final = slice(2, 2 + NUMBERS)
_VIEW: Final = layout_of(SensorReading).view


@njit(cache=True)
def _short(frame: Bytes, at: int) -> int:
    """The i2 that begins there."""
    value = int(frame[at]) | int(frame[at + 1]) << 8
    return value - 65536 if value >= 32768 else value


@njit(cache=True)
def _word(frame: Bytes, at: int) -> np.uint32:
    """The u4 that begins there."""
    word = np.uint32(0)
    for i in range(4):
        word |= np.uint32(frame[at + i]) << np.uint32(8 * i)
    return word


@njit(cache=True)
def examine(
    frame: Bytes, at: NDArray[np.int64], header: Bytes, calibration: Array, clock: Array,
    arrival: float, row: Array,
) -> int:  # fmt: skip
    """Judge a frame of the right length that came at `arrival` [s]; 0, or a fault of `FAULTS`.

    One without a fault is the last one from now on.

    Args:
        frame, at, header, calibration: see `take_in`.
        clock: the record of the robot's, see `follow`.
        row: (78) is written, see above; of no use where there is a fault.
    """
    fault = take_in(frame, at, header, calibration, row[_NUMBERS])
    if fault:
        return fault
    row[ROW - 1] = arrival
    return follow(clock, int(_word(frame, at[TICK])), arrival, row)


@njit(cache=True)
def take_in(
    frame: Bytes, at: NDArray[np.int64], header: Bytes, calibration: Array, numbers: Array
) -> int:
    """Judge a frame of the right length, and write its numbers; 0, or a fault of `FAULTS`.

    Args:
        frame: of LowState.
        at: `Wire.state_at`.
        header: that it must begin with, (0) where any will do.
        calibration: (5) what each foot shows without load [counts], and [N/count].
        numbers: (75) see above; of no use where there is a fault but NOT_FINITE.
    """
    if _word(frame, len(frame) - 4) != checksum(frame):
        return CRC
    for i in range(len(header)):
        if frame[i] != header[i]:
            return ANOTHER_HEADER
    wide = at[COUNTS] == 0
    places = np.empty(10 + (3 if wide else 2) * JOINTS, np.int64)
    for i in range(10):
        places[i] = at[IMU] + 4 * i
    for i in range(JOINTS):
        motor = at[FIRST_MOTOR] + at[STRIDE] * i
        places[10 + i] = motor + at[ANGLE]
        places[10 + JOINTS + i] = places[10 + i] + 4
        if wide:
            places[10 + 2 * JOINTS + i] = motor + at[EFFORT]
    words, fault = np.empty(len(places), np.uint32), 0
    for i in range(len(places)):
        words[i] = _word(frame, places[i])
        if words[i] & np.uint32(0x7F800000) == np.uint32(0x7F800000):  # infinite or no number
            fault = NOT_FINITE
    for i in range(3):  # roll, pitch and yaw: not used, but they show an IMU that fails
        angle = at[IMU] + 40 + 4 * i
        if frame[angle + 3] & 0x7F == 0x7F and frame[angle + 2] & 0x80:
            fault = NOT_FINITE
    floats = words.view(np.float32)
    for i in range(len(floats)):
        numbers[i] = floats[i]
    _normalise(numbers)
    for i in range(JOINTS):
        motor = at[FIRST_MOTOR] + at[STRIDE] * i
        if not wide:
            numbers[34 + i] = _short(frame, motor + at[EFFORT]) / float(at[COUNTS])
        mode = frame[motor + at[MODE_AT]]
        numbers[51 + i] = SERVO if mode == at[IN_SERVO] else mode
        numbers[63 + i] = np.int8(frame[motor + at[TEMPERATURE_AT]])
    for i in range(4):
        numbers[46 + i] = (_short(frame, at[FEET] + 2 * i) - calibration[i]) * calibration[4]
    return fault


@njit(cache=True)
def _normalise(numbers: Array) -> None:
    """From the robot's w, x, y, z to x, y, z, w of unit length."""
    w, x, y, z = numbers[0], numbers[1], numbers[2], numbers[3]
    square = w * w + x * x + y * y + z * z
    length = np.sqrt(square) if square > 0.0 else 1.0
    numbers[0], numbers[1], numbers[2], numbers[3] = x / length, y / length, z / length, w / length
    numbers[SQUARE] = square


LOG = logging.getLogger(__name__)
BELIEVED: Final = ("accepted", "overtaken")  # of the counts
MOST_SAMPLES: Final = 10  # that one call reads, so that a flood cannot hold the loop up
LAG_S: Final = 0.1  # [s] beyond which a frame that comes late is worth a log line

_MEANING: Final = {
    "wrong_sender": "not the robot's address and port",
    "length": "not that of a state of this robot",
    "crc": "the checksum is wrong",
    "header": "another header than the robot's first good frame had",
    "not_finite": "a number of the IMU or of a joint is not finite",
    "duplicate": "the tick of the last frame once more",
    "old": "a tick before the last frame's: overtaken on the way, a replay, or the robot restarted",
    "leap": "a tick far ahead of our clock: a replay of another session, or tick_unit_s is wrong",
}


class Sample(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A believed frame."""

    frame: bytes
    row: Array  # (78), see `take_in`
    numbers: Array  # (75) of it, see `take_in`
    wire: Wire
    time: float  # when it was measured, as far as arrivals tell [s], monotonic
    arrival: float  # at this machine [s], monotonic

    @property
    def tick(self) -> int:
        """Tick of the stack: ms on the robot's clock, which goes on where a u32 wraps."""
        return int(self.row[0])

    @property
    def reading(self) -> SensorReading:
        """The stack's message, not decoded yet."""
        return _VIEW(self.row[READING])

    @property
    def state(self) -> LowState:
        """The whole frame, decoded."""
        return read_low_state(self.wire, self.frame)


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
            the 12 motors), ``duplicate``, ``old``, ``leap`` (see `follow`). The first
            refusal of each kind is one log line.
    """

    def __init__(
        self, wire: Wire, robot: tuple[str, int], tick_unit_s: float,
        sensing: SensingOptions | None = None,
    ) -> None:  # fmt: skip
        """Compile what is compiled.

        Args:
            wire: of the robot.
            robot: its address and port.
            tick_unit_s: the length of its tick [s].
            sensing: the calibration of its feet.
        """
        self.header: Header | None = None
        self.last: Sample | None = None
        self.earlier_samples: list[Sample] = []
        self.counts: Counter[str] = Counter()
        self._wire, self._robot, self._unit = wire, robot, tick_unit_s
        self._header_bytes = np.empty(0, np.uint8)
        sensing = sensing or SensingOptions()
        self._calibration = np.array([*sensing.foot_force_offset, sensing.foot_force_scale])
        self._clock = new_clock(tick_unit_s)
        examine(
            np.frombuffer(bytes(wire.state.itemsize), np.uint8), wire.state_at,
            self._header_bytes, self._calibration, self._clock, 0.0, np.empty(ROW),
        )  # fmt: skip
        self._lagged = False

    def take(self, datagrams: Iterable[Datagram]) -> Sample | None:
        """The newest believed frame among `datagrams`, in order of arrival; None without one."""
        believed: list[Sample] = []
        wire, refused = self._wire, ""
        for datagram in datagrams:
            frame, arrival = datagram.data, datagram.arrival
            if datagram.sender != self._robot:
                refused = "wrong_sender"
            elif len(frame) != wire.state.itemsize:
                refused = "length"
            else:
                row, data = np.empty(ROW), np.frombuffer(frame, np.uint8)
                fault = examine(
                    data, wire.state_at, self._header_bytes, self._calibration, self._clock,
                    arrival, row,
                )  # fmt: skip
                if fault == 0:
                    time = row.item(1)
                    if self.header is None or arrival - time > LAG_S:
                        self._note(frame, arrival - time)
                    believed.append(Sample(frame, row, row[_NUMBERS], wire, time, arrival))
                    continue
                refused = FAULTS[fault]
            self._refuse(refused, datagram)
        if not believed:
            self.earlier_samples = []
            return None
        self.counts["accepted"] += 1
        if len(believed) > 1:
            self.counts["overtaken"] += len(believed) - 1
        *self.earlier_samples, self.last = believed[-MOST_SAMPLES:]
        return self.last

    def _note(self, frame: bytes, lag_s: float) -> None:
        """Take the header of the first believed frame; log a frame that comes late, once."""
        if self.header is None:
            size = self._wire.header_size
            self._header_bytes = np.frombuffer(frame[:size], np.uint8).copy()
            self.header = read_low_state(self._wire, frame).header
            LOG.info("intake: the robot at %s port %d answers, %s", *self._robot, self.header)
        if not self._lagged and lag_s > LAG_S:
            self._lagged = True
            LOG.warning(
                "intake: a frame came %.2f s after its tick says: held up on the way, or the "
                "robot's tick is longer than tick_unit_s (%g s)", lag_s, self._unit,
            )  # fmt: skip

    def _refuse(self, reason: str, datagram: Datagram) -> None:
        self.counts[reason] += 1
        if self.counts[reason] == 1:
            LOG.warning(
                "intake: ignored %d bytes from %s port %d (%s): %s; more of these are only counted",
                len(datagram.data), *datagram.sender, reason, _MEANING[reason],
            )  # fmt: skip
