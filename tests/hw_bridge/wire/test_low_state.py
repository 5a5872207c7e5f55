"""LowState: every field comes back, and what does not fit saturates."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hw_bridge.wire.frame import frame_fault
from hw_bridge.wire.low_state import decode_low_state, encode_low_state, zero_low_state
from tests.a1 import WIRE
from tests.hw_bridge.test_take_in import random_frame


@given(st.integers(0, 2**32))
def test_every_field_comes_back(seed):
    frame = random_frame(seed)
    assert frame_fault(frame, WIRE.state.itemsize) is None
    assert encode_low_state(WIRE, decode_low_state(WIRE, frame)) == frame


@pytest.mark.parametrize(("field", "value", "expected"), [
    ("tau_est", np.full(20, 200.0), 32767 / 256), ("tau_est", np.full(20, np.nan), 0.0),
    ("tau_est", np.full(20, -1.9 / 256), -1 / 256), ("ddq", np.full(20, np.inf), 32767.0),
    ("temperature", np.full(20, -300), -128), ("mode", np.full(20, 256), 255),
    ("foot_force", np.full(4, 1e5), 32767), ("imu_temperature", 200, 127), ("tick", 2**32 + 5, 5),
    ("gyroscope", np.full(3, 1e300), np.inf),
])  # fmt: skip
def test_numbers_saturate_and_truncate_and_the_tick_wraps(field, value, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        state = zero_low_state(WIRE)._replace(**{field: value})
        found = decode_low_state(WIRE, encode_low_state(WIRE, state))
    np.testing.assert_array_equal(getattr(found, field), expected)
