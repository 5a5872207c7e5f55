"""Events as data, and when they hold."""

import msgspec
import numpy as np
import pytest

from hw_bridge.emulator.firmware import Firmware
from hw_bridge.emulator.options import MOTORS, EmulatorOptions
from hw_bridge.wire.frame import read_low_state
from hw_bridge.wire.low_command import LowCommandEncoder, damping
from hw_bridge.wire.remote import decode_remote
from tests.a1 import A1, WIRE
from tests.hw_bridge.emulator.emulator_plant import FreeJoints
from tests.refusals import refusal

FRAME = LowCommandEncoder(WIRE).encode(damping(3.0))

EVENTS = [
    {"kind": "cut", "at": 0.010, "for": 0.005},
    {"kind": "stuck_encoder", "at": 0.012, "motor": "FL_thigh"},
    {"kind": "stuck_velocity", "at": 0.011, "motor": 3, "value": 2.0},
    {"kind": "jam", "at": 0.014, "motor": 5},
    {"kind": "heat", "at": 0.020, "motor": 7, "temperature": 61.5},
    {"kind": "drive_joint", "at": 0.013, "for": 0.004, "motor": "RR_calf", "torque": 8.0},
    {"kind": "drive_joint", "at": 0.015, "for": 0.004, "motor": 8, "torque": -3.0},
    {"kind": "remote", "at": 0.030, "for": 0.010, "buttons": ["L2", "B"]},
    {"kind": "push", "at": 0.040, "value": [0.0, 1.0, 0.0]},
    {"kind": "power_cut", "at": 0.050},
]

SEEN = {  # tick: what an event changed there
    10: {"cut": True}, 11: {"told": 2.0}, 12: {"stuck": True}, 13: {"torque": 8.0},
    14: {"jammed": True}, 15: {"cut": False, "torque": 5.0}, 17: {"torque": -3.0},
    19: {"torque": 0.0}, 20: {"heat": 61.0}, 30: {"buttons": {"L2", "B"}},
    40: {"buttons": set(), "push": 1.0}, 50: {"power": False},
}  # fmt: skip


@pytest.mark.parametrize("change, name", [
    ({"at": -1.0}, "at"), ({"for": 0.0}, "for"), ({"motor": "FL_knee"}, "FR_hip"),
    ({"motor": 12}, "11"), ({"kind": "remote", "buttons": ["Z"]}, "'Z'"),
    ({"kind": "remote", "sticks": {"lz": 0.5}}, "ly"), ({"kind": "explosion"}, "explosion"),
])  # fmt: skip
def test_mistakes_are_named(change, name):
    kind = "stuck_encoder" if "motor" in change else "cut"
    event = {"kind": kind, "at": 1.0} | ({} if "motor" in change else {"for": 1.0}) | change
    assert name in refusal(
        msgspec.ValidationError, msgspec.convert, {"events": [event]}, EmulatorOptions
    )


def test_events_hold_for_their_time_add_up_or_are_for_good():
    plant, motor = FreeJoints(), MOTORS.index("FL_thigh")
    firmware = Firmware(msgspec.convert({"events": EVENTS}, EmulatorOptions), A1, plant)
    seen = {"buttons": set()}
    expected = seen | {"cut": False, "torque": 0.0, "push": 0.0, "power": True}
    for tick in range(60):
        plant.q, plant.dq = A1.stand + 0.01 * tick, np.full(12, 0.1)  # moved by hand
        for frame in firmware.tick([FRAME]):
            state = read_low_state(WIRE, frame)
            seen["buttons"] = set(decode_remote(state.remote).buttons)
            seen["told"], seen["heat"] = state.dq[3], state.temperature[7]
            seen["stuck"] = state.dq[motor] == 0.0
        outside = plant.outside[[5, 8]]
        seen |= {"cut": firmware.is_cut, "torque": outside[1], "push": plant.pushed[1],
                 "jammed": outside[0] != 0.0, "power": not plant.blocked}  # fmt: skip
        expected |= SEEN.get(tick, {})
        for name, value in expected.items():
            late = name in ("told", "stuck") and name in SEEN.get(tick, {})  # told a tick later
            assert late or seen[name] == value, (tick, name)
