"""Events as data, and when they hold."""

import msgspec
import numpy as np
import pytest

from hw_bridge.emulator.firmware import EventScript
from hw_bridge.emulator.options import MOTORS, EmulatorOptions

EVENTS = [
    {"kind": "cut", "at": 0.010, "for": 0.005},
    {"kind": "stuck_encoder", "at": 0.012, "motor": "FL_thigh"},
    {"kind": "stuck_velocity", "at": 0.011, "motor": 3, "value": 2.0},
    {"kind": "jam", "at": 0.014, "motor": 5},
    {"kind": "heat", "at": 0.020, "motor": 7, "temperature": 61},
    {"kind": "drive_joint", "at": 0.013, "for": 0.004, "motor": "RR_calf", "torque": 8.0},
    {"kind": "drive_joint", "at": 0.015, "for": 0.004, "motor": 8, "torque": -3.0},
    {"kind": "remote", "at": 0.030, "for": 0.010, "buttons": ["L2", "B"]},
    {"kind": "push", "at": 0.040, "value": [0.0, 1.0, 0.0]},
    {"kind": "power_cut", "at": 0.050},
]

NAMES = ("is_cut", "stuck", "jammed", "joint_torque", "buttons", "power_cut")

SEEN = {  # tick: what an event changed there, of the motor that it is about
    10: {"is_cut": True}, 11: {"told_speed": 2.0}, 12: {"stuck": True}, 13: {"joint_torque": 8.0},
    14: {"jammed": True}, 15: {"is_cut": False, "joint_torque": 5.0}, 17: {"joint_torque": -3.0},
    19: {"joint_torque": 0.0}, 20: {"heat": 61.0}, 30: {"buttons": frozenset({"L2", "B"})},
    40: {"buttons": frozenset(), "push": [0.0, 1.0, 0.0]}, 50: {"power_cut": True},
}  # fmt: skip

MOTOR = {"stuck": MOTORS.index("FL_thigh"), "told_speed": 3, "jammed": 5, "joint_torque": 8}


@pytest.mark.parametrize(("change", "name"), [
    ({"at": -1.0}, "at"), ({"for": 0.0}, "for"), ({"motor": "FL_knee"}, "FR_hip"),
    ({"motor": 12}, "11"), ({"kind": "remote", "buttons": ["Z"]}, "'Z'"),
    ({"kind": "remote", "sticks": {"lz": 0.5}}, "ly"), ({"kind": "explosion"}, "explosion"),
])  # fmt: skip
def test_mistakes_are_named(change, name):
    kind = "stuck_encoder" if "motor" in change else "cut"
    event = {"kind": kind, "at": 1.0} | ({} if "motor" in change else {"for": 1.0}) | change
    with pytest.raises(msgspec.ValidationError, match=name):
        msgspec.convert({"events": [event]}, EmulatorOptions)


def test_events_hold_for_their_time_add_up_or_are_for_good():
    options, last = msgspec.convert({"events": EVENTS}, EmulatorOptions), None
    events = EventScript(options.events, 0.001)
    for tick in range(60):
        now = events.change(tick)
        assert (now is not None) >= (tick in SEEN)
        if now is None:
            continue
        for name in (*NAMES, *MOTOR):
            value, before = getattr(now, name), None if last is None else getattr(last, name)
            if name in MOTOR:
                value, before = value[MOTOR[name]], None if last is None else before[MOTOR[name]]
            if name in SEEN.get(tick, {}):
                assert value == SEEN[tick][name], (tick, name)
            else:
                assert last is None or value == before or value != value, (tick, name)
        for name in ("heat", "push"):  # at once
            assert np.any(getattr(now, name)) == (name in SEEN.get(tick, {}))
        last = now
