"""Events as data, and when they hold."""

import msgspec
import numpy as np
import pytest

from hw_bridge.emulator.firmware import EventScript
from hw_bridge.emulator.options import MOTORS, EmulatorOptions, motor_index

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


def script() -> EventScript:
    return EventScript(msgspec.convert({"events": EVENTS}, EmulatorOptions).events, 0.001)


def held(name: str) -> list[tuple[int, object]]:
    """Ticks at which a field changes, and to what, from tick 0 to 60."""
    events, changes, last = script(), [], None
    for tick in range(60):
        now = events.change(tick)
        value = last if now is None else getattr(now, name)
        value = value.tolist() if isinstance(value, np.ndarray) else value
        if now is not None and value != last:
            changes.append((tick, value))
            last = value
    return changes


def test_a_cut_holds_for_its_time() -> None:
    assert held("is_cut") == [(10, True), (15, False)]


def test_torques_from_outside_add_up_while_they_overlap() -> None:
    torques = [(tick, value[8]) for tick, value in held("joint_torque")]  # type: ignore[index]
    assert torques == [(10, 0.0), (13, 8.0), (15, 5.0), (17, -3.0), (19, 0.0)]


def test_buttons_are_held_for_their_time() -> None:
    assert held("buttons")[1:] == [(30, frozenset({"L2", "B"})), (40, frozenset())]


def test_stuck_velocities_and_jams_are_for_good() -> None:
    events = script()
    changes = [each for tick in range(60) if (each := events.change(tick)) is not None]
    told = [each.told_speed[3] for each in changes]
    assert np.isnan(told[0]) and set(told[1:]) == {2.0}
    assert np.isnan([each.told_speed[4] for each in changes]).all()
    jams = [(tick, value[5]) for tick, value in held("jammed")]  # type: ignore[index]
    assert jams[-1] == (14, True)


def test_a_stuck_encoder_and_a_lost_battery_are_for_good() -> None:
    index = MOTORS.index("FL_thigh")
    stuck = [(tick, value[index]) for tick, value in held("stuck")]  # type: ignore[index]
    assert stuck[1:] == [(12, True)]
    assert held("power_cut")[1:] == [(50, True)]


@pytest.mark.parametrize("name", ["heat", "push"])
def test_what_happens_at_once_happens_in_one_tick(name: str) -> None:
    events, seen = script(), []
    for tick in range(60):
        change = events.change(tick)
        if change is not None and np.any(getattr(change, name)):
            seen.append(tick)
    assert seen == {"heat": [20], "push": [40]}[name]


@pytest.mark.parametrize(
    ("event", "says"),
    [
        ({"kind": "cut", "at": -1.0, "for": 0.1}, "at is -1"),
        ({"kind": "cut", "at": 1.0, "for": 0.0}, "for is 0"),
        ({"kind": "heat", "at": 1.0, "motor": "FL_knee", "temperature": 60}, "FR_hip"),
        ({"kind": "stuck_encoder", "at": 1.0, "motor": 12}, "0 to 11"),
        ({"kind": "remote", "at": 1.0, "for": 1.0, "buttons": ["Z"]}, "no button 'Z'"),
        ({"kind": "explosion", "at": 1.0}, "explosion"),
    ],
)
def test_mistakes_are_named(event: dict[str, object], says: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=says):
        msgspec.convert({"events": [event]}, EmulatorOptions)


def test_motors_go_by_name_or_index() -> None:
    assert [motor_index(name) for name in MOTORS] == list(range(12))
    assert motor_index(5) == 5


@pytest.mark.parametrize(
    "wrong",
    [{"port": -1}, {"address": "robot"}, {"stream_hz": 0.0}, {"serial": 1 << 32},
     {"command_timeout_s": float("nan")}, {"foot_force_offset": (0, 0, 0, 40000)}],
)  # fmt: skip
def test_options_out_of_range_are_named(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        EmulatorOptions(**wrong)  # type: ignore[arg-type]
