"""Offsets and checksums of each wire, against those observed of the vendor's libraries."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hw_bridge.wire.frame import crc, frame_fault, read_low_state, seal
from hw_bridge.wire.layout import BRAKE, JOINTS, OVERHEATED, SERVO, WIRES, Header
from hw_bridge.wire.low_command import LowCommandEncoder, Setpoints, no_torque
from tests.a1 import state_frame

# Of A1 and Go1.
MOTOR = "mode 0 q 1 dq 5 tau 9 kp 11 kd 13 reserve 15"
MOTOR_STATE = """mode 0 q 1 dq 5 ddq 9 tau_est 11 q_raw 13 dq_raw 17 ddq_raw 21 temperature 23
reserve 24"""
GO_HEADER = "head 0 level_flag 2 robot_id 3 serial 4 comm_version 12 bandwidth 20"
LAYOUTS = {  # sizes, then offsets: of a command, its motors, a state, its motors, a header
    "unitree-a1": (
        (610, 27, 771, 32), "header 0 motors 10 led 550 remote 562 reserve 602 crc 606", MOTOR,
        """header 0 quaternion_wxyz 10 gyroscope 26 accelerometer 38 rpy 50 imu_temperature 62
        motors 63 foot_force 703 foot_force_est 711 tick 719 remote 723 reserve 763 crc 767""",
        MOTOR_STATE, "level_flag 0 comm_version 1 robot_id 3 serial 5 bandwidth 9",
    ),
    "unitree-go1": (
        (614, 27, 807, 32), "header 0 motors 22 battery 562 remote 566 reserve 606 crc 610", MOTOR,
        """header 0 quaternion_wxyz 22 gyroscope 38 accelerometer 50 rpy 62 imu_temperature 74
        motors 75 battery 715 charge 718 current 719 cycle 723 battery_temperature 725 cells 729
        foot_force 739 foot_force_est 747 tick 755 remote 759 reserve 799 crc 803""",
        MOTOR_STATE, GO_HEADER,
    ),
    "unitree-go2": (
        (812, 36, 1180, 48),
        """header 0 motors 24 battery 744 remote 748 led 788 fan 800 gpio 802 reserve 804
        crc 808""",
        "mode 0 q 4 dq 8 tau 12 kp 16 kd 20 reserve 24",
        """header 0 quaternion_wxyz 24 gyroscope 40 accelerometer 52 rpy 64 imu_temperature 76
        motors 80 charge 1043 current 1044 cycle 1048 cells 1054 foot_force 1084
        foot_force_est 1092 tick 1100 remote 1104 bit_flag 1144 adc 1148 voltage 1156
        supply_current 1160 fan 1164 reserve 1172 crc 1176""",
        """mode 0 q 4 dq 8 ddq 12 tau_est 16 q_raw 20 dq_raw 24 ddq_raw 28 temperature 32 lost 36
        reserve 40""", GO_HEADER,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
def test_offsets(name):
    wire, (sizes, *expected) = WIRES[name], LAYOUTS[name]
    motor, motor_state = wire.command["motors"].base, wire.state["motors"].base
    records = wire.command, motor, wire.state, motor_state
    assert tuple(record.itemsize for record in records) == sizes
    for record, offsets in zip((*records, wire.state["header"]), expected, strict=True):
        fields, places = offsets.split()[::2], offsets.split()[1::2]
        assert [record.fields[field][1] for field in fields] == [*map(int, places)]
        ends = [offset + dtype.itemsize for dtype, offset in record.fields.values()]
        assert [*ends[:-1]] == [offset for _, offset in [*record.fields.values()][1:]]
        assert all(a < b for a, b in pairwise(ends))


STAND = Setpoints(
    np.tile([0.0, 0.67, -1.3], 4), np.zeros(12), np.full(12, 60.0), np.full(12, 5.0), np.zeros(12)
)


def command(name, setpoints=None, idle=None, servos=None):
    """A frame with the vendor's first bytes, and what is in its unused motors."""
    encoder = LowCommandEncoder(WIRES[name])
    frame = bytearray(encoder.encode(setpoints or no_torque()))
    motors = np.frombuffer(frame, WIRES[name].command)[0]["motors"]
    if idle is not None:
        motors["q"][JOINTS:] = motors["dq"][JOINTS:] = idle
    if servos is not None:
        motors["mode"][servos:] = 0
    return seal(frame)


def state(name, tick):
    return state_frame(WIRES[name], quaternion_wxyz=np.zeros(4), tick=tick)


@pytest.mark.parametrize(
    "frame, expected",
    [
        (command("unitree-a1"), 0x1359692F),  # InitCmdData
        (bytes(614), 0xE7CD1C3B),
        (command("unitree-go1"), 0x347FF0E2),  # InitCmdData
        (bytes(812), 0x4B5A4880),
        (bytes(1180), 0x85F11EA6),
        (command("unitree-go2"), 0x06E577CD),  # InitLowCmd
        (command("unitree-go2", idle=0.0, servos=12), 0x338061F2),
        (command("unitree-go2", STAND, idle=0.0), 0x48DEA1F7),
        (state("unitree-go2", 1), 0x8356E7BF),
    ],
)
def test_checksums_of_the_vendors_libraries(frame, expected):
    assert crc(frame) == expected


@pytest.mark.parametrize("size", [610, 771])
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


@pytest.mark.parametrize("name", WIRES)
def test_a_state_comes_back(name):
    wire = WIRES[name]
    mode = np.tile([SERVO, BRAKE, OVERHEATED, 3, 4], 4)
    sent = {"mode": mode, "q": np.arange(20.0), "tau_est": np.arange(-10.0, 10.0), "tick": 5,
            "foot_force": np.arange(4), "header": Header(255, 1, 2, 3, 4),
            "quaternion_wxyz": np.arange(4.0), "remote": bytes(range(40))}  # fmt: skip
    found = read_low_state(wire, state_frame(wire, **sent))
    for field, value in sent.items():
        assert_array_equal(getattr(found, field), value)
