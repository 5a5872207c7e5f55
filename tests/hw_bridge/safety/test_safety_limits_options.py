"""Options that would protect no more are refused, by name."""

import dataclasses
import math

import msgspec
import numpy as np
import pytest

from hw_bridge.options import HardwareSafetyOptions, motor_limits
from hw_bridge.safety.limits import Limiter
from tests.a1 import A1
from tests.hw_bridge.safety.safety_samples import torque_command

NAMES = HardwareSafetyOptions.__struct_fields__


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_every_limit_is_finite_and_positive(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=rf"^{name} is .*; give "):
        HardwareSafetyOptions(**{name: value})


@pytest.mark.parametrize(
    "name, value",
    [
        ("torque_limit", 42.1), ("velocity_limit", 100.1), ("total_power", 1001.0),
        ("temperature_stop", 81.0), ("tilt_max", 3.2), ("kp_max", 1024.0),
    ],
)  # fmt: skip
def test_no_limit_lies_beyond_what_the_robot_bears(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=rf"^{name} is .*; give above 0, up to"):
        HardwareSafetyOptions(**{name: value})


@pytest.mark.parametrize(
    "changes, name",
    [
        ({"state_age_hold_s": 0.1}, "state_age_hold_s"),
        ({"temperature_warn": 60.0}, "temperature_warn"),
        ({"velocity_limit": 21.0, "velocity_stop": 21.0}, "velocity_limit"),
    ],
)
def test_limits_that_belong_together_are_in_order(changes: dict[str, float], name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name} is .*; give less than "):
        HardwareSafetyOptions(**changes)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"torque_limit": 33.6}, "torque_limit is 33.6; give up to the robot's own, 33.5 N m"),
        ({"velocity_limit": 21.1}, "velocity_limit is 21.1; give up to the robot's own, 21 rad/s"),
        ({"velocity_stop": 21.0}, "velocity_stop is 21; give more than velocity_limit, 21 rad/s"),
    ],
)
def test_no_limit_lies_beyond_the_robot_s_own(options: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=f"^{words}$"):
        Limiter(HardwareSafetyOptions(**options), A1)


def test_each_motor_keeps_the_lower_of_the_option_and_its_own_limit() -> None:
    own = np.array([10.0, 20.0, 50.0] * 4)
    weak = dataclasses.replace(A1, torque_limit=own, velocity_limit=own)
    options = HardwareSafetyOptions(torque_limit=15.0)
    torque, velocity = motor_limits(options, weak)
    np.testing.assert_array_equal(torque, np.minimum(own, 15.0))
    np.testing.assert_array_equal(velocity, own)
    torque, _ = motor_limits(HardwareSafetyOptions(), weak)
    np.testing.assert_array_equal(torque, [10.0, 20.0, 42.0] * 4)
    limited = Limiter(options, weak).apply(torque_command(30.0), A1.stand, np.zeros(12), 0.0)
    np.testing.assert_array_equal(
        limited.torque, np.minimum(options.torque_slew * 1e-3, np.minimum(own, 15.0))
    )


def test_a_misspelt_option_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="tilt_maximum"):
        msgspec.convert({"tilt_maximum": 1.0}, HardwareSafetyOptions)
