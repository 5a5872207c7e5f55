"""Sizes and offsets of the two frames."""

import pytest

from hw_bridge.wire.layout import (
    LOW_COMMAND,
    LOW_COMMAND_SIZE,
    LOW_STATE,
    LOW_STATE_SIZE,
    MOTOR_COMMAND,
    MOTOR_STATE,
)

OFFSETS = [
    (LOW_COMMAND, {"header": 0, "motors": 10, "led": 550, "remote": 562, "reserve": 602,
                   "crc": 606}),
    (MOTOR_COMMAND, {"mode": 0, "q": 1, "dq": 5, "tau": 9, "kp": 11, "kd": 13, "reserve": 15}),
    (LOW_STATE, {"header": 0, "quaternion_wxyz": 10, "gyroscope": 26, "accelerometer": 38,
                 "rpy": 50, "imu_temperature": 62, "motors": 63, "foot_force": 703,
                 "foot_force_est": 711, "tick": 719, "remote": 723, "reserve": 763, "crc": 767}),
    (MOTOR_STATE, {"mode": 0, "q": 1, "dq": 5, "ddq": 9, "tau_est": 11, "q_raw": 13, "dq_raw": 17,
                   "ddq_raw": 21, "temperature": 23, "reserve": 24}),
]  # fmt: skip


def test_sizes():
    assert (LOW_COMMAND_SIZE, LOW_STATE_SIZE) == (610, 771)
    assert (MOTOR_COMMAND.itemsize, MOTOR_STATE.itemsize) == (27, 32)


@pytest.mark.parametrize(("record", "offsets"), OFFSETS)
def test_offsets(record, offsets):
    assert {name: record.fields[name][1] for name in record.names} == offsets
