"""The A1's frames once more, with Python's own `struct` and `zlib`: a peer and a second opinion.

Nothing here uses hw_bridge.wire's layouts or checksum, so that one mistake cannot hide in both.
"""

from __future__ import annotations

import math
import struct
import zlib
from array import array
from typing import Any

import numpy as np

from hw_bridge.setpoints import Setpoints
from hw_bridge.wire.layout import Header
from hw_bridge.wire.low_state import LowState

_COMMAND = struct.Struct("<BHHIB" + 20 * "BffhhhIII" + "12s40sII")
_STATE = struct.Struct("<BHHIB" + "4f3f3f3fb" + 20 * "BffhhffhbII" + "4h4hI40sII")
_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
_STOP, _NO_SPEED = 2.146e9, 16000.0
_UNUSED = [_STOP, _NO_SPEED, 0, 0, 0, 0, 0, 0]


def peer_crc(frame: bytes) -> int:
    """The checksum of a frame of at least 4 bytes, through zlib's.

    CRC-32 as zlib has it takes the bits of a byte from the least significant on, and inverts at
    the end; the A1's takes those of a word from the most significant on. So the words' bits are
    reversed before, and the sum's after.
    """
    words = array("I", frame[: 4 * (len(frame) // 4 - 1)])
    words.byteswap()
    reversed_sum = zlib.crc32(words.tobytes().translate(_REVERSED)) ^ 0xFFFFFFFF
    return int(f"{reversed_sum:032b}"[::-1], 2)


def whole(frame: bytes, size: int) -> bool:
    """Whether a frame has that many bytes and ends with its checksum."""
    return len(frame) == size and peer_crc(frame) == int.from_bytes(frame[-4:], "little")


def encode(setpoints: Setpoints) -> bytes:
    """A LowCmd frame, as `LowCommandEncoder` makes it with the default header."""
    values: list[Any] = [0xFF, 0, 0, 0, 0]
    mode = setpoints.mode
    columns = (setpoints.q, setpoints.dq, setpoints.tau, setpoints.kp, setpoints.kd)
    for motor in zip(*(column.tolist() for column in columns), strict=True):
        values.append(mode)
        if not all(map(math.isfinite, motor)):
            values += _UNUSED
            continue
        q, dq, tau, kp, kd = motor
        values += (q, dq, _count(256.0 * tau), _count(32.0 * kp), _count(16.0 * kd), 0, 0, 0)
    values += 8 * [mode, *_UNUSED]
    frame = _COMMAND.pack(*values, bytes(12), bytes(40), 0, 0)
    return frame[:-4] + struct.pack("<I", peer_crc(frame))


def decode(frame: bytes) -> LowState:
    """A LowState frame, as `decode_low_state` reads it.

    Raises:
        ValueError: the frame is not whole.
    """
    if not whole(frame, 771):
        raise ValueError("not whole")
    values = _STATE.unpack(frame)
    head, motors, tail = values[:19], values[19:239], values[239:]

    def column(field: int, kind: Any = np.float64) -> np.ndarray:
        return np.array(motors[field::11], kind)

    return LowState(
        header=Header(*head[:5]),
        quaternion_wxyz=np.array(head[5:9]),
        gyroscope=np.array(head[9:12]),
        accelerometer=np.array(head[12:15]),
        rpy=np.array(head[15:18]),
        imu_temperature=head[18],
        mode=column(0, np.int64),
        q=column(1),
        dq=column(2),
        ddq=column(3),
        tau_est=column(4) / 256.0,
        q_raw=column(5),
        dq_raw=column(6),
        ddq_raw=column(7),
        temperature=column(8, np.int64),
        motor_reserve=np.stack([column(9, np.int64), column(10, np.int64)], axis=1),
        foot_force=np.array(tail[0:4]),
        foot_force_est=np.array(tail[4:8]),
        tick=tail[8],
        remote=tail[9],
        reserve=tail[10],
    )


def _count(scaled: float) -> int:
    return int(min(max(scaled, -32768.0), 32767.0))
