"""Events as data, and when they hold."""

import msgspec
import numpy as np
import pytest
import yaml

from hw_bridge.emulator.firmware import Firmware
from hw_bridge.emulator.options import MOTORS, EmulatorOptions
from hw_bridge.wire.frame import read_low_state
from hw_bridge.wire.low_command import LowCommandEncoder, damping
from hw_bridge.wire.remote import decode_remote
from tests.a1 import A1, WIRE
from tests.hw_bridge.emulator.emulator_plant import FreeJoints
from tests.refusals import refusal
from tests.tables import table

FRAME = LowCommandEncoder(WIRE).encode(damping(3.0))

EVENTS = yaml.safe_load("""
- {kind: cut, at: 0.010, for: 0.005}
- {kind: stuck_encoder, at: 0.012, motor: FL_thigh}
- {kind: stuck_velocity, at: 0.011, motor: 3, value: 2.0}
- {kind: jam, at: 0.014, motor: 5}
- {kind: heat, at: 0.020, motor: 7, temperature: 61.5}
- {kind: drive_joint, at: 0.013, for: 0.004, motor: RR_calf, torque: 8.0}
- {kind: drive_joint, at: 0.015, for: 0.004, motor: 8, torque: -3.0}
- {kind: remote, at: 0.030, for: 0.010, buttons: [L2, B]}
- {kind: push, at: 0.040, value: [0.0, 1.0, 0.0]}
- {kind: power_cut, at: 0.050}
""")

# By tick, what an event changed there.
SEEN = yaml.safe_load("""
10: {cut: true}
11: {told: 2.0}
12: {stuck: true}
13: {torque: 8.0}
14: {jammed: true}
15: {cut: false, torque: 5.0}
17: {torque: -3.0}
19: {torque: 0.0}
20: {heat: 61.0}
30: {buttons: [B, L2]}
40: {buttons: [], push: 1.0}
50: {power: false}
""")


@pytest.mark.parametrize("event, name", table("""
    {kind: cut, at: -1.0, for: 1.0} => at
    {kind: cut, at: 1.0, for: 0.0} => for
    {kind: stuck_encoder, at: 1.0, motor: FL_knee} => FR_hip
    {kind: stuck_encoder, at: 1.0, motor: 12} => 11
    {kind: remote, at: 1.0, for: 1.0, buttons: [Z]} => 'Z'
    {kind: remote, at: 1.0, for: 1.0, sticks: {lz: 0.5}} => ly
    {kind: explosion, at: 1.0, for: 1.0} => explosion
"""))  # fmt: skip
def test_mistakes_are_named(event, name):
    events = {"events": [yaml.safe_load(event)]}
    assert name in refusal(msgspec.ValidationError, msgspec.convert, events, EmulatorOptions)


def test_events_hold_for_their_time_add_up_or_are_for_good():
    plant, motor = FreeJoints(), MOTORS.index("FL_thigh")
    firmware = Firmware(msgspec.convert({"events": EVENTS}, EmulatorOptions), A1, plant)
    seen = {"buttons": []}
    expected = seen | {"cut": False, "torque": 0.0, "push": 0.0, "power": True}
    for tick in range(60):
        plant.q, plant.dq = A1.stand + 0.01 * tick, np.full(12, 0.1)  # moved by hand
        for frame in firmware.tick([FRAME]):
            state = read_low_state(WIRE, frame)
            seen["buttons"] = sorted(decode_remote(state.remote).buttons)
            seen["told"], seen["heat"] = state.dq[3], state.temperature[7]
            seen["stuck"] = state.dq[motor] == 0.0
        outside = plant.outside[[5, 8]]
        seen |= {"cut": firmware.is_cut, "torque": outside[1], "push": plant.pushed[1],
                 "jammed": outside[0] != 0.0, "power": not plant.blocked}  # fmt: skip
        expected |= SEEN.get(tick, {})
        for name, value in expected.items():
            late = name in ("told", "stuck") and name in SEEN.get(tick, {})  # told a tick later
            assert late or seen[name] == value, (tick, name)
