"""Profiles of limits: the smaller of what is configured and what first runs may do."""

import pytest

from saltus.configuration.launch import (
    FIRST_RUN_SAFETY,
    FIRST_RUN_SPEEDS,
    limits_in_words,
    load_launch,
)
from saltus.launch.assembly import make_commands
from tests.a1 import A1

HIGH = ["command.velocity_x=0.5"]


def numbers(config):
    """Every limit that a profile names, and the speed."""
    drive = config.drive
    gaits = {
        f"{name}.{key}": getattr(gait, key)
        for key in FIRST_RUN_SPEEDS
        for name, gait in (("walk", drive.walk), ("trot", drive.trot), ("bound", drive.bound))
    }
    own = {"torque_limit": 33.5, "velocity_limit": 21.0}
    safety = {key: getattr(config.hardware.safety, key) or own[key] for key in FIRST_RUN_SAFETY}
    return safety | gaits | {"speed": config.speed}


def test_a_real_a1_has_the_limits_of_first_runs_unless_full_ones_are_named():
    first, full = load_launch("a1", HIGH), load_launch("a1", [*HIGH, "hardware.limits=full"])
    assert first.limit_profile == "first_run" and full.limit_profile == "full"
    assert numbers(full) == numbers(load_launch("a1-emulated", HIGH))
    lower, higher = numbers(first), numbers(full)
    assert all(lower[name] < higher[name] for name in higher)
    assert (lower["torque_limit"], lower["trot.forward"], lower["speed"]) == (20.0, 0.2, 0.2)
    assert load_launch("a1-emulated", ["hardware.limits=first_run", *HIGH]).speed == 0.2


def test_what_is_configured_lower_stays():
    own = {
        "hardware.safety.torque_limit": 10.0,
        "hardware.safety.total_power": 399.0,
        "drive.walk": "{forward: 0.5, left: 0.05, yaw_rate: 0.0}",
        "command.velocity_x": -0.1,
    }
    config = load_launch("a1", [f"{key}={value}" for key, value in own.items()])
    found = numbers(config)
    assert (found["torque_limit"], found["total_power"], found["motor_power"]) == (10.0, 399.0, 150)
    assert (found["walk.left"], found["walk.forward"], found["walk.yaw_rate"]) == (0.05, 0.2, 0.0)
    assert config.speed == -0.1
    assert load_launch("a1", ["command.velocity_x=-0.5"]).speed == -0.2


def test_a_script_is_followed_within_the_limits():
    script = "command=[{at: 0.0, velocity_x: 1.0, yaw_rate: -2.0, gait: trot}]"
    commands = make_commands(load_launch("a1", [script]))
    goal = commands.goal(0.0)
    assert (goal.forward, goal.yaw_rate) == (0.2, -0.4)


def test_a_simulated_robot_has_no_profile():
    keys = ["hardware.limits=first_run", *HIGH]
    assert numbers(load_launch("sim", keys)) == numbers(load_launch("sim", HIGH))


@pytest.mark.parametrize("name, words", [
    ("a1", ["first_run", "20 N m", "0.2 m/s", "--set hardware.limits=full"]),
    ("a1-emulated", ["full", "33.5 N m"]),
])  # fmt: skip
def test_the_line_names_the_limits_in_force(name, words):
    line = limits_in_words(load_launch(name), A1)
    assert all(word in line for word in words) and "\n" not in line
