"""The checksum: reference values, what it covers, and a bit-by-bit second one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hw_bridge.wire.frame import crc, frame_fault, seal
from hw_bridge.wire.layout import BRAKE, POS_STOP, SERVO, VEL_STOP
from hw_bridge.wire.low_command import LowCommandEncoder, no_torque
from tests.a1 import WIRE


def bitwise(frame):
    """CRC-32/MPEG-2 as its definition reads, a bit at a time over the words' bits from the top."""
    register = 0xFFFFFFFF
    for begin in range(0, 4 * (len(frame) // 4 - 1), 4):
        word = int.from_bytes(frame[begin : begin + 4], "little")
        for bit in range(31, -1, -1):
            top = register >> 31 ^ word >> bit & 1
            register = (register << 1 & 0xFFFFFFFF) ^ (0x04C11DB7 if top else 0)
    return register


def command_with(motors, mode):
    record = np.zeros(1, WIRE.command)
    record["header"]["level_flag"] = 0xFF
    some = record["motors"][:, :motors]
    some["mode"], some["q"], some["dq"] = mode, POS_STOP, VEL_STOP
    return record.tobytes()


# The first two were made by the vendor's own binaries.
FRAMES = {
    0xA4819405: command_with(0, 0),
    0x1359692F: command_with(20, SERVO),
    0x0C8D2D97: command_with(12, SERVO),
    0xDCD223F4: command_with(20, BRAKE),
    0xC704DD7B: bytes(4) + bytes(4),
    0x1DABE74F: bytes([1, 2, 3, 4]) + bytes(4),
}


@pytest.mark.parametrize("expected", FRAMES, ids=hex)
def test_reference_values(expected):
    assert crc(FRAMES[expected]) == expected


def test_no_torque_is_the_vendors_initial_command():
    expected = 0x1359692F
    frame = LowCommandEncoder(WIRE).encode(no_torque())
    assert frame == FRAMES[expected][:-4] + expected.to_bytes(4, "little")


@given(st.binary(min_size=4, max_size=64))
def test_equals_the_definition(frame):
    assert crc(frame) == bitwise(frame)


@pytest.mark.parametrize("size", [WIRE.command.itemsize, WIRE.state.itemsize])
def test_any_byte_that_is_covered_counts(size):
    frame = seal(bytearray(range(256)) * 4)[:size]
    frame = seal(bytearray(frame))
    uncovered = []
    for byte in range(size):
        changed = bytearray(frame)
        changed[byte] ^= 0x10
        if frame_fault(bytes(changed), size) is None:
            uncovered.append(byte)
    assert uncovered == list(range(4 * (size // 4 - 1), size - 4))
