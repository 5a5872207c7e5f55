"""One compiled look at a LowState frame: whether to believe it, and the row that is made of it.

`hw_bridge.wire.low_state` decodes whole frames; its numbers are the same.
"""

from typing import Final, LiteralString

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hw_bridge import robot_time
from hw_bridge.wire.crc import checksum
from hw_bridge.wire.layout import (
    HEADER,
    JOINTS,
    LOW_STATE,
    LOW_STATE_SIZE,
    MOTOR_STATE,
    TORQUE_SCALE,
)
from runtime.messages import SensorReading
from runtime.rows import layout_of

Array = NDArray[np.float64]
Bytes = NDArray[np.uint8]

CRC, ANOTHER_HEADER, NOT_FINITE = 1, 2, 3
FAULTS: Final = {
    CRC: "crc", ANOTHER_HEADER: "header", NOT_FINITE: "not_finite", **robot_time.DISORDERS
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


def _at(record: np.dtype, name: LiteralString) -> int:
    """Offset [bytes] of a field in its record."""
    assert record.fields is not None
    return int(record.fields[name][1])


_HEADER_BYTES: Final = HEADER.itemsize
_STORED_CRC: Final = LOW_STATE_SIZE - 4
_IMU: Final = _at(LOW_STATE, "quaternion_wxyz")
_TICK: Final = _at(LOW_STATE, "tick")
_FEET: Final = _at(LOW_STATE, "foot_force")
_MOTORS: Final = _at(LOW_STATE, "motors")
_STRIDE: Final = MOTOR_STATE.itemsize
_MODE: Final = _at(MOTOR_STATE, "mode")
_Q: Final = _at(MOTOR_STATE, "q")  # dq follows
_TORQUE: Final = _at(MOTOR_STATE, "tau_est")
_TEMPERATURE: Final = _at(MOTOR_STATE, "temperature")


@njit(cache=True)
def _short(frame: Bytes, at: int) -> int:
    """The i2 that begins there."""
    value = int(frame[at]) | int(frame[at + 1]) << 8
    return value - 65536 if value >= 32768 else value


@njit(cache=True)
def examine(
    frame: Bytes, header: Bytes, calibration: Array, clock: Array, arrival: float, row: Array
) -> int:
    """Judge a frame of the right length that came at `arrival` [s]; 0, or a fault of `FAULTS`.

    One without a fault is the last one from now on.

    Args:
        frame, header, calibration: see `take_in`.
        clock: the record of the robot's, see `robot_time`.
        row: (78) is written, see above; of no use where there is a fault.
    """
    fault = take_in(frame, header, calibration, row[2 : 2 + NUMBERS])
    if fault:
        return fault
    tick = 0
    for i in range(4):
        tick |= int(frame[_TICK + i]) << 8 * i
    fault = robot_time.order(clock, tick, arrival)
    if fault == 0:
        row[1], row[0] = robot_time.place(clock, tick, arrival)
        row[ROW - 1] = arrival
    return fault


@njit(cache=True)
def take_in(frame: Bytes, header: Bytes, calibration: Array, numbers: Array) -> int:
    """Judge a frame of the right length, and write its numbers; 0, or a fault of `FAULTS`.

    Args:
        frame: (771) of LowState.
        header: (10) that it must begin with, (0) where any will do.
        calibration: (5) what each foot shows without load [counts], and [N/count].
        numbers: (75) see above; of no use where there is a fault but NOT_FINITE.
    """
    stored = np.uint32(0)
    for i in range(4):
        stored |= np.uint32(frame[_STORED_CRC + i]) << np.uint32(8 * i)
    if stored != checksum(frame):
        return CRC
    for i in range(len(header)):
        if frame[i] != header[i]:
            return ANOTHER_HEADER
    places = np.empty(10 + 2 * JOINTS, np.int64)
    for i in range(10):
        places[i] = _IMU + 4 * i
    for i in range(JOINTS):
        places[10 + i] = _MOTORS + _STRIDE * i + _Q
        places[10 + JOINTS + i] = places[10 + i] + 4
    words, fault = np.empty(len(places), np.uint32), 0
    for i in range(len(places)):
        for j in range(4):
            part = np.uint32(frame[places[i] + j]) << np.uint32(8 * j)
            words[i] = part if j == 0 else words[i] | part
        if words[i] & np.uint32(0x7F800000) == np.uint32(0x7F800000):  # infinite or no number
            fault = NOT_FINITE
    for i in range(3):  # roll, pitch and yaw: nobody here uses them, but an IMU that fails shows
        at = _IMU + 40 + 4 * i
        if frame[at + 3] & 0x7F == 0x7F and frame[at + 2] & 0x80:
            fault = NOT_FINITE
    floats = words.view(np.float32)
    for i in range(len(floats)):
        numbers[i] = floats[i]
    _normalise(numbers)
    for i in range(JOINTS):
        motor = _MOTORS + _STRIDE * i
        numbers[34 + i] = _short(frame, motor + _TORQUE) / TORQUE_SCALE
        numbers[51 + i] = frame[motor + _MODE]
        numbers[63 + i] = np.int8(frame[motor + _TEMPERATURE])
    for i in range(4):
        numbers[46 + i] = (_short(frame, _FEET + 2 * i) - calibration[i]) * calibration[4]
    return fault


@njit(cache=True)
def _normalise(numbers: Array) -> None:
    """From the robot's w, x, y, z to x, y, z, w of unit length."""
    w, x, y, z = numbers[0], numbers[1], numbers[2], numbers[3]
    square = w * w + x * x + y * y + z * z
    length = np.sqrt(square) if square > 0.0 else 1.0
    numbers[0], numbers[1], numbers[2], numbers[3] = x / length, y / length, z / length, w / length
    numbers[SQUARE] = square
