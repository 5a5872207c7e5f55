"""LowState: every field comes back, and what does not fit saturates."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hw_bridge.wire.frame import WireError, frame_fault
from hw_bridge.wire.layout import Header
from hw_bridge.wire.low_state import LowState, decode_low_state, encode_low_state, zero_low_state
from tests.a1 import WIRE
from tests.hw_bridge.wire import peer as wire_peer


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
    assert_same(wire_peer.decode(frame), state)


@given(st.binary(min_size=WIRE.state.itemsize, max_size=WIRE.state.itemsize))
def test_any_bytes_with_their_checksum_decode_without_a_warning(data):
    frame = data[:-4] + wire_peer.peer_crc(data).to_bytes(4, "little")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(decode_low_state(WIRE, frame), wire_peer.decode(frame))


def test_a_signalling_nan_is_no_error():
    record = np.zeros(1, WIRE.state)
    record["motors"].view(np.uint8)[...] = 0
    data = bytearray(record.tobytes())
    data[64:68] = (0x7F800001).to_bytes(4, "little")  # q of motor 0
    frame = bytes(data[:-4]) + wire_peer.peer_crc(bytes(data)).to_bytes(4, "little")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(decode_low_state(WIRE, frame).q[0])


SATURATED = [
    ("tau_est", 200.0, 32767 / 256), ("tau_est", -1e9, -128.0), ("tau_est", np.nan, 0.0),
    ("ddq", 1e6, 32767.0), ("ddq_raw", -1e6, -32768.0), ("ddq", np.inf, 32767.0),
    ("temperature", 300, 127), ("temperature", -300, -128), ("mode", 256, 255), ("mode", -1, 0),
    ("tau_est", -1.9 / 256, -1 / 256), ("ddq", 1.9, 1.0), ("temperature", 61.9, 61),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value", "expected"), SATURATED)
def test_motors_saturate_and_truncate(field, value, expected):
    values = np.full(20, value)
    state = zero_low_state(WIRE)._replace(**{field: values})
    found = decode_low_state(WIRE, encode_low_state(WIRE, state))
    np.testing.assert_array_equal(getattr(found, field), expected)


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("foot_force", np.full(4, 1e5), 32767), ("foot_force_est", np.full(4, -1e5), -32768),
        ("imu_temperature", 200, 127), ("reserve", 2**40, 2**32 - 1), ("tick", 2**32 + 5, 5),
        ("gyroscope", np.full(3, 1e300), np.inf),
    ],
)  # fmt: skip
def test_the_others_saturate_and_the_tick_wraps(field, value, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        state = zero_low_state(WIRE)._replace(**{field: value})
        found = decode_low_state(WIRE, encode_low_state(WIRE, state))
    np.testing.assert_array_equal(getattr(found, field), expected)


@pytest.mark.parametrize(
    ("field", "value"),
    [("remote", bytes(39)), ("q", np.zeros(12)), ("mode", np.zeros(12)), ("foot_force", [1, 2])],
)
def test_another_shape_is_an_error(field, value):
    with pytest.raises(ValueError):
        encode_low_state(WIRE, zero_low_state(WIRE)._replace(**{field: value}))


def test_arrays_are_copies_that_may_be_written_to():
    frame = encode_low_state(WIRE, zero_low_state(WIRE))
    first = decode_low_state(WIRE, frame)
    for value in first:
        if isinstance(value, np.ndarray):
            value[...] = 1
    assert_same(decode_low_state(WIRE, frame), zero_low_state(WIRE))


def test_refuses_what_is_not_whole():
    frame = encode_low_state(WIRE, zero_low_state(WIRE))
    for damaged in (frame[:-1], frame + b"\0", b"", frame[:100] + b"\1" + frame[101:]):
        with pytest.raises(WireError):
            decode_low_state(WIRE, damaged)
