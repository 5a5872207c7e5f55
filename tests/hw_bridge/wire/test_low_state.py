"""LowState: every field comes back, and what does not fit saturates."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hw_bridge.wire.frame import frame_fault
from hw_bridge.wire.layout import Header
from hw_bridge.wire.low_state import LowState, decode_low_state, encode_low_state, zero_low_state
from tests.a1 import WIRE


def floats(count):
    return arrays(np.float64, count, elements=st.floats(width=32))


def integers(shape, bits, signed):
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return arrays(np.int64, shape, elements=st.integers(low, high))


def counts(scale=1.0):
    return integers(20, 16, True).map(lambda each: each / scale)


STATES = st.builds(
    LowState,
    header=st.builds(Header, *(st.integers(0, (1 << bits) - 1) for bits in (8, 16, 16, 32, 8))),
    quaternion_wxyz=floats(4),
    gyroscope=floats(3),
    accelerometer=floats(3),
    rpy=floats(3),
    imu_temperature=st.integers(-128, 127),
    mode=integers(20, 8, False),
    q=floats(20),
    dq=floats(20),
    ddq=counts(),
    tau_est=counts(256.0),
    q_raw=floats(20),
    dq_raw=floats(20),
    ddq_raw=counts(),
    temperature=integers(20, 8, True),
    motor_reserve=integers((20, 2), 32, False),
    foot_force=integers(4, 16, True),
    foot_force_est=integers(4, 16, True),
    tick=st.integers(0, 2**32 - 1),
    remote=st.binary(min_size=40, max_size=40),
    reserve=st.integers(0, 2**32 - 1),
)


def assert_same(found, expected):
    for name in LowState._fields:
        got, want = getattr(found, name), getattr(expected, name)
        np.testing.assert_array_equal(got, want, err_msg=name)
        if isinstance(want, np.ndarray):
            assert (got.dtype, got.flags.c_contiguous) == (want.dtype, True), name


@given(STATES)
def test_every_field_comes_back(state):
    frame = encode_low_state(WIRE, state)
    assert frame_fault(frame, WIRE.state.itemsize) is None
    assert_same(decode_low_state(WIRE, frame), state)


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
