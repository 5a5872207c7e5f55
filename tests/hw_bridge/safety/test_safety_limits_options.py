"""Options that would protect no more are refused, by name."""

import math

import msgspec
import pytest

from hw_bridge.safety.options import HardwareSafetyOptions

NAMES = HardwareSafetyOptions.__struct_fields__


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_every_limit_is_finite_and_positive(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=rf"^{name} is .*; give "):
        HardwareSafetyOptions(**{name: value})


@pytest.mark.parametrize(
    "name, value",
    [
        ("torque_limit", 33.6), ("velocity_limit", 21.1), ("total_power", 1001.0),
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
        ({"velocity_stop": 21.0}, "velocity_limit"),
    ],
)
def test_limits_that_belong_together_are_in_order(changes: dict[str, float], name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name} is .*; give less than "):
        HardwareSafetyOptions(**changes)


def test_a_misspelt_option_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="tilt_maximum"):
        msgspec.convert({"tilt_maximum": 1.0}, HardwareSafetyOptions)
