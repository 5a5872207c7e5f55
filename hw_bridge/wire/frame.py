"""Frames: whether one is whole by length and checksum, and LowState, what the robot measures.

Arithmetic of CRC-32/MPEG-2 (polynomial 0x04C11DB7, start 0xFFFFFFFF, nothing reflected, no final
exclusive or) over little-endian 32-bit words, each from its most significant byte on. Observed of
the vendor's library 3.3.4.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numba import njit, types
from numpy.typing import NDArray

from hw_bridge.wire.layout import SERVO, Header, Wire

POLYNOMIAL: Final = 0x04C11DB7
START: Final = 0xFFFFFFFF


def _remainder(byte: int) -> int:
    """Register after one byte."""
    register = byte << 24
    for _ in range(8):
        carry = register >> 31
        register = (register << 1) & 0xFFFFFFFF ^ carry * POLYNOMIAL
    return register


def _tables() -> NDArray[np.uint32]:
    """Register after a byte with 0 to 3 bytes after it, (4, 256): a word at a time."""
    tables = [[_remainder(byte) for byte in range(256)]]
    for _ in range(3):
        tables.append([(r << 8) & 0xFFFFFFFF ^ tables[0][r >> 24] for r in tables[-1]])
    return np.array(tables, dtype=np.uint32)


_TABLES = _tables()


# Compiled on import, for this type alone: the first frame shall not wait for a compiler.
@njit(types.uint32(types.Array(types.uint8, 1, "C", readonly=True)), cache=True)
def checksum(frame: NDArray[np.uint8]) -> np.uint32:
    """See `crc`, which is for Python."""
    register = np.uint32(START)
    for word in range(0, 4 * (len(frame) // 4 - 1), 4):
        first = np.uint8(register >> 24) ^ frame[word + 3]
        second = np.uint8(register >> 16) ^ frame[word + 2]
        third = np.uint8(register >> 8) ^ frame[word + 1]
        fourth = np.uint8(register) ^ frame[word]
        register = _TABLES[3, first] ^ _TABLES[2, second] ^ _TABLES[1, third] ^ _TABLES[0, fourth]
    return np.uint32(register)


def crc(frame: bytes | bytearray) -> int:
    """Checksum of a whole frame, over its first ``len(frame) // 4 - 1`` words.

    Where the length is no multiple of 4, the bytes between those words and the stored checksum
    are not covered: 604 and 605 of LowCmd, 764 to 766 of LowState.
    """
    return int(checksum(np.frombuffer(frame, np.uint8)))


def frame_fault(frame: bytes, size: int) -> str:
    """Fault of a frame of `size` bytes: "length", "crc", or "". Never raises."""
    if len(frame) != size:
        return "length"
    return "" if int.from_bytes(frame[-4:], "little") == crc(frame) else "crc"


def seal(frame: bytearray) -> bytes:
    """The frame with its checksum in its last 4 bytes."""
    frame[-4:] = crc(frame).to_bytes(4, "little")
    return bytes(frame)


def record_in(frame: bytes | bytearray, layout: np.dtype[Any]) -> NDArray[np.void]:
    """The frame's own bytes as an array of no dimension, whose fields are views."""
    return np.ndarray((), layout, frame)


Array = NDArray[np.float64]
Integers = NDArray[np.int64]


class LowState(NamedTuple):
    """A decoded frame. Motors 12 to 19 are unused; ours come first, in the stack's own order.

    Attributes:
        header: of the robot.
        quaternion_wxyz: (4) of the IMU in the world.
        gyroscope: (3) in body axes [rad/s].
        accelerometer: (3) specific force in body axes [m/s^2].
        rpy: (3) roll, pitch, yaw [rad].
        imu_temperature: [deg C].
        mode: (20) of the motors: SERVO, BRAKE, OVERHEATED or another.
        q: (20) [rad].
        dq: (20) [rad/s].
        tau_est: (20) [N m], in steps of 1/256.
        temperature: (20) [deg C].
        foot_force: (4) [counts], with offsets of their own, FR, FL, RR, RL.
        foot_force_est: (4) [counts].
        tick: the robot's clock, modulo 2^32; drivers disagree whether in ms or in us.
        remote: 40 bytes of the remote control, see `decode_remote`.
    """

    header: Header
    quaternion_wxyz: Array
    gyroscope: Array
    accelerometer: Array
    rpy: Array
    imu_temperature: int
    mode: Integers
    q: Array
    dq: Array
    tau_est: Array
    temperature: Integers
    foot_force: Integers
    foot_force_est: Integers
    tick: int
    remote: bytes


_SINGLE = ("header", "imu_temperature", "tick", "remote")
_IN_MOTORS = ("mode", "q", "dq", "tau_est", "temperature")


def read_low_state(wire: Wire, frame: bytes) -> LowState:
    """Read a whole frame, see `frame_fault`; its arrays are copies.

    Numbers that are not finite are no fault of a frame.
    """
    record = record_in(frame, wire.state)
    arrays: dict[str, Any] = {}
    with np.errstate(all="ignore"):  # a signalling NaN
        for name in LowState._fields:
            if name not in _SINGLE:
                field = (record["motors"] if name in _IN_MOTORS else record)[name]
                arrays[name] = field.astype(np.float64 if field.dtype.kind == "f" else np.int64)
    arrays["tau_est"] = arrays["tau_est"] / (wire.torque_scale or 1.0)
    arrays["mode"][arrays["mode"] == wire.servo] = SERVO
    return LowState(
        header=wire.read_header(record), remote=record["remote"].tobytes(),
        imu_temperature=int(record["imu_temperature"]), tick=int(record["tick"]), **arrays,
    )  # fmt: skip
