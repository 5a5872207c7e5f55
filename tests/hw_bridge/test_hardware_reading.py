"""The robot's state as the stack's message."""

import math

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hw_bridge.options import SensingOptions
from hw_bridge.wire.low_state import zero_low_state
from runtime.messages import SensorReading, decode, encode
from tests.a1 import WIRE
from tests.hw_bridge.safety.safety_samples import sample_of


def sample(sensing=None, **fields):
    """A sample as the wire would carry it."""
    return sample_of(zero_low_state(WIRE)._replace(**fields), 9.5, 9.0, 77, sensing)


def random_sample(seed=3, sensing=None):
    rng = np.random.default_rng(seed)
    return sample(
        sensing, quaternion_wxyz=rng.normal(size=4), gyroscope=rng.normal(size=3),
        accelerometer=rng.normal(size=3), q=rng.normal(size=20), dq=rng.normal(size=20),
        tau_est=rng.normal(size=20), foot_force=rng.integers(-100, 300, 4),
    )  # fmt: skip


def test_every_number_stands_where_the_stack_expects_it():
    believed = random_sample()
    state, reading = believed.state, believed.reading
    assert (reading.tick, reading.time) == (77, 9.0)
    w, x, y, z = state.quaternion_wxyz / np.linalg.norm(state.quaternion_wxyz)
    assert np.allclose(reading.quaternion_imu_in_world, [x, y, z, w], atol=1e-15)
    assert np.array_equal(reading.angular_velocity_imu, state.gyroscope)
    assert np.array_equal(reading.linear_acceleration_imu, state.accelerometer)
    assert np.array_equal(reading.joint_position, state.q[:12])
    assert np.array_equal(reading.joint_velocity, state.dq[:12])
    assert np.array_equal(reading.joint_torque, state.tau_est[:12])
    assert np.array_equal(reading.foot_force, state.foot_force)


def test_a_reading_crosses_the_bus_unchanged():
    reading = random_sample(sensing=SensingOptions(0.5, (1.0, 2.0, 3.0, 4.0))).reading
    assert decode(SensorReading, encode(reading)) == reading


@given(st.lists(st.floats(-1e3, 1e3), min_size=4, max_size=4))
def test_the_quaternion_is_of_unit_length_or_zero(wxyz):
    reading = sample(quaternion_wxyz=np.array(wxyz)).reading
    length = np.linalg.norm(reading.quaternion_imu_in_world)
    assert length == pytest.approx(1.0) or length == 0.0


@given(
    st.lists(st.integers(-32768, 32767), min_size=4, max_size=4),
    st.tuples(*[st.floats(-100.0, 100.0)] * 4),
    st.floats(0.01, 10.0),
)
def test_foot_forces_are_counts_less_their_offsets_scaled(counts, offset, scale):
    reading = sample(SensingOptions(scale, offset), foot_force=np.array(counts)).reading
    assert np.allclose(reading.foot_force, scale * (np.array(counts) - np.array(offset)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"foot_force_scale": 0.0},
        {"foot_force_scale": -1.0},
        {"foot_force_scale": math.nan},
        {"foot_force_scale": math.inf},
        {"foot_force_offset": (0.0, 0.0, 0.0, math.nan)},
        {"foot_force_offset": (0.0, 0.0, 0.0)},
    ],
)
def test_a_calibration_that_cannot_be_is_refused_by_name(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        msgspec.convert(wrong, SensingOptions)
