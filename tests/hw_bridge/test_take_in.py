"""The one compiled look at a frame: what is no number, and where every number stands."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hw_bridge import intake as t
from hw_bridge.options import SensingOptions
from hw_bridge.wire.frame import seal
from runtime.messages import SensorReading, decode, encode
from tests.a1 import WIRE
from tests.hw_bridge.safety.safety_samples import sample_of

CALIBRATION = np.array([3.0, -20.0, 7.5, 0.0, 0.4])
ANY = np.empty(0, np.uint8)


def look(frame, header=ANY):
    numbers = np.full(t.NUMBERS, -1.0)
    return t.take_in(
        np.frombuffer(frame, np.uint8), WIRE.state_at, header, CALIBRATION, numbers
    ), numbers


def random_frame(seed):
    """Whole, and any bits in it; its floats are finite."""
    rng = np.random.default_rng(seed)
    data = bytearray(rng.bytes(WIRE.state.itemsize))
    record = np.frombuffer(data, WIRE.state)[0]
    for name in ("quaternion_wxyz", "gyroscope", "accelerometer", "rpy"):
        record[name] = rng.normal(size=len(record[name]))
    for name in ("q", "dq", "q_raw", "dq_raw"):
        record["motors"][name] = rng.normal(size=20)
    return seal(data)


@given(
    st.sampled_from(["quaternion_wxyz", "gyroscope", "accelerometer", "rpy", "q", "dq"]),
    st.integers(0, 11), st.sampled_from([np.nan, np.inf, -np.inf]),
)  # fmt: skip
def test_a_number_that_is_none_is_found_wherever_it_stands(field, place, value):
    data = bytearray(random_frame(place))
    record = np.frombuffer(data, WIRE.state)[0]
    numbers = record["motors"][field][:12] if field in ("q", "dq") else record[field]
    numbers[place % len(numbers)] = value
    assert look(seal(data))[0] == t.NOT_FINITE


@pytest.mark.parametrize("seed", range(5))
def test_every_number_stands_where_the_stack_expects_it(seed):
    rng = np.random.default_rng(seed)
    believed = sample_of(
        9.5, 9.0, 77, SensingOptions(0.5, (1.0, -2.0, 3.0, 4.0)),
        quaternion_wxyz=rng.normal(size=4), gyroscope=rng.normal(size=3),
        accelerometer=rng.normal(size=3), q=rng.normal(size=20),
        dq=rng.normal(size=20), tau_est=rng.normal(size=20), foot_force=rng.integers(-100, 300, 4),
        mode=rng.integers(0, 99, 20), temperature=rng.integers(0, 99, 20),
    )  # fmt: skip
    state, reading = believed.state, believed.reading
    assert (reading.tick, reading.time) == (77, 9.0)
    w, x, y, z = state.quaternion_wxyz / np.linalg.norm(state.quaternion_wxyz)
    expected = {
        "quaternion_imu_in_world": [x, y, z, w], "angular_velocity_imu": state.gyroscope,
        "linear_acceleration_imu": state.accelerometer, "joint_position": state.q[:12],
        "joint_velocity": state.dq[:12], "joint_torque": state.tau_est[:12],
        "foot_force": 0.5 * (state.foot_force - np.array([1.0, -2.0, 3.0, 4.0])),
    }  # fmt: skip
    for name, values in expected.items():
        assert_allclose(getattr(reading, name), values, atol=1e-15, err_msg=name)
    assert_array_equal(believed.numbers[t.MODE], state.mode[:12])
    assert_array_equal(believed.numbers[t.TEMPERATURE], state.temperature[:12])
    assert decode(SensorReading, encode(reading)) == reading
