"""The checksum: reference values, and what it covers."""

import numpy as np
import pytest

from hw_bridge.wire.frame import crc, frame_fault, seal
from hw_bridge.wire.layout import BRAKE, POS_STOP, SERVO, VEL_STOP
from hw_bridge.wire.low_command import LowCommandEncoder, no_torque
from tests.a1 import WIRE


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
}


@pytest.mark.parametrize("expected", FRAMES, ids=hex)
def test_reference_values(expected):
    assert crc(FRAMES[expected]) == expected


def test_no_torque_is_the_vendors_initial_command():
    expected = 0x1359692F
    frame = LowCommandEncoder(WIRE).encode(no_torque())
    assert frame == FRAMES[expected][:-4] + expected.to_bytes(4, "little")


@pytest.mark.parametrize("size", [WIRE.command.itemsize, WIRE.state.itemsize])
def test_any_byte_that_is_covered_counts(size):
    frame = seal(bytearray(range(256)) * 4)[:size]
    frame = seal(bytearray(frame))
    uncovered = []
    for byte in range(size):
        changed = bytearray(frame)
        changed[byte] ^= 0x10
        if not frame_fault(bytes(changed), size):
            uncovered.append(byte)
    assert uncovered == list(range(4 * (size // 4 - 1), size - 4))
