"""Options that would protect no more are refused, by name."""

import dataclasses
import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hw_bridge.options import HardwareSafetyOptions, motor_limits
from tests.a1 import A1
from tests.hw_bridge.safety.safety_samples import limiter_of, send, torque_command
from tests.refusals import refusal

NAMES = HardwareSafetyOptions.__struct_fields__

WRONG = [
    *({name: value} for name in NAMES for value in (0.0, math.nan, math.inf)),
    {"torque_limit": 33.6}, {"velocity_limit": 21.1}, {"velocity_stop": 21.0},
]  # fmt: skip


def test_each_motor_keeps_the_lower_of_the_option_and_its_own_limit():
    own = np.array([10.0, 20.0, 50.0] * 4)
    weak = dataclasses.replace(A1, torque_limit=own, velocity_limit=own)
    options = HardwareSafetyOptions(torque_limit=15.0)
    torque, velocity = motor_limits(options, weak)
    assert_array_equal(torque, np.minimum(own, 15.0))
    assert_array_equal(velocity, own)
    torque, _ = motor_limits(HardwareSafetyOptions(), weak)
    assert_array_equal(torque, [10.0, 20.0, 42.0] * 4)
    limited = send(limiter_of(options, weak), torque_command(30.0), A1.stand, np.zeros(12), 0.0)
    assert_array_equal(
        limited.torque, np.minimum(options.torque_slew * 1e-3, np.minimum(own, 15.0))
    )


@pytest.mark.parametrize("options", WRONG, ids=str)
def test_limits_out_of_range_out_of_order_or_beyond_the_robots_own_are_refused(options):
    made = lambda: limiter_of(HardwareSafetyOptions(**options))  # noqa: E731
    assert next(iter(options)) in refusal(ValueError, made)
