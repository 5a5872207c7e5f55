"""The firmware on a simple body: what it believes, obeys, answers, and does by itself."""

import msgspec
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx

from hw_bridge.emulator.firmware import Firmware
from hw_bridge.emulator.options import EmulatorOptions
from hw_bridge.wire.frame import read_low_state
from hw_bridge.wire.layout import BRAKE, OVERHEATED, SERVO, Header
from hw_bridge.wire.low_command import LowCommandEncoder, Setpoints, damping, no_torque
from tests.a1 import A1, WIRE
from tests.hw_bridge.emulator.emulator_plant import FreeJoints

HOLD = Setpoints(A1.stand + 0.1, np.zeros(12), np.full(12, 40.0), np.full(12, 2.0), np.zeros(12))
ENCODER = LowCommandEncoder(WIRE)
HOLD_FRAME, DAMP_FRAME = ENCODER.encode(HOLD), ENCODER.encode(damping(3.0))


def made(**options):
    plant = FreeJoints()
    return Firmware(msgspec.convert(options, EmulatorOptions), A1, plant), plant


def states(firmware, frames, ticks=1):
    """The decoded answers of some ticks with the same frames each."""
    out = []
    for k in range(ticks):
        out += (read_low_state(WIRE, frame) for frame in firmware.tick(frames, 0.001 * k))
    return out


def test_it_is_silent_and_leaves_the_plant_alone_until_the_first_command():
    firmware, plant = made(reply="stream")
    assert states(firmware, [], 1000) == []
    assert (plant.tick, plant.told, firmware.state) == (1000, 0, "waiting")
    assert len(states(firmware, [HOLD_FRAME])) == 1
    assert firmware.state == "obeying"


def test_joints_follow_the_law_and_the_state_shows_them():
    firmware, plant = made()
    seen = states(firmware, [HOLD_FRAME], 1500)
    assert_allclose(plant.q, HOLD.q, atol=1e-3)
    assert_allclose(seen[-1].q[:12], plant.q, atol=1e-4)
    assert_array_equal(seen[-1].mode[:12], SERVO)
    assert_allclose(seen[0].q[:12], A1.stand, atol=1e-6)  # of this tick, not after
    slope = np.diff([state.dq[0] for state in seen[100:120]]) / 0.001
    assert np.abs(slope).max() > 0.0


@pytest.mark.parametrize("unit, step", [(0.001, 1), (1e-6, 1000)])
def test_the_tick_counts_in_its_unit_and_wraps(unit, step):
    firmware, _ = made(tick_unit_s=unit)
    firmware.clock_ms = first = 2**32 // step - 2
    ticks = [state.tick for state in states(firmware, [HOLD_FRAME], 4)]
    assert ticks == [(first + k) * step % 2**32 for k in range(4)]


def test_without_commands_it_brakes_after_the_timeout_and_stays_so():
    firmware, plant = made()
    states(firmware, [HOLD_FRAME], 10)
    states(firmware, [], 29)
    assert firmware.state == "obeying"
    states(firmware, [], 1)
    assert firmware.state == "protected" and firmware.passive
    seen = states(firmware, [HOLD_FRAME], 700)  # does not go on where it left off
    assert firmware.state == "protected"
    assert_array_equal(seen[-1].mode[:12], BRAKE)
    assert np.abs(plant.dq).max() < 1e-3
    states(firmware, [DAMP_FRAME], 502)
    assert firmware.state == "obeying"
    assert [state for _, state, _ in firmware.history] == ["obeying", "protected", "obeying"]
    assert firmware.history[1][0] == approx(0.039)


def test_a_hot_motor_gives_no_torque_and_says_so():
    event = {"kind": "heat", "at": 0.05, "motor": "FL_calf", "temperature": 70}
    firmware, plant = made(events=[event])
    states(firmware, [HOLD_FRAME], 40)
    seen = states(firmware, [HOLD_FRAME], 40)
    assert plant.torque[5] == 0.0 and np.delete(plant.torque, 5).all()
    assert seen[-1].mode[5] == OVERHEATED
    assert (np.delete(seen[-1].mode[:12], 5) == SERVO).all()
    assert seen[-1].temperature[5] == 69 and firmware.worst["temperature"] > 69.0


def test_the_worst_is_what_was_asked_and_done_since_the_first_motion():
    firmware, plant = made()
    plant.q[:] = 5.0
    states(firmware, [DAMP_FRAME, ENCODER.encode(no_torque())], 50)
    assert set(firmware.worst.values()) == {0.0}
    plant.q[:], plant.dq[:] = A1.stand, 0.0
    states(firmware, [DAMP_FRAME], 2)  # the second tells where the joints are
    states(firmware, [HOLD_FRAME], 300)
    assert firmware.worst["torque_demand"] == approx(4.0, rel=1e-3)
    assert firmware.worst["excursion"] == 0.0
    states(firmware, [ENCODER.encode(HOLD._replace(q=np.full(12, 5.0), kp=np.full(12, 5.0)))], 800)
    assert firmware.worst["excursion"] > 0.5


@pytest.mark.parametrize(
    "frame, reason",
    [
        (HOLD_FRAME[:-1], "length"), (b"", "length"),
        (HOLD_FRAME[:40] + bytes([HOLD_FRAME[40] ^ 1]) + HOLD_FRAME[41:], "crc"),
        (LowCommandEncoder(WIRE, Header(level_flag=0)).encode(HOLD), "level"),
    ],
)  # fmt: skip
def test_a_spoilt_frame_or_one_of_another_level_is_counted_and_wakes_nobody(frame, reason):
    firmware, plant = made()
    assert states(firmware, [frame], 3) == [] and firmware.refused == {reason: 3}
    assert (firmware.commands, plant.told, firmware.state) == (0, 0, "waiting")
