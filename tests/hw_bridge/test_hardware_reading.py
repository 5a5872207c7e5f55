"""The robot's state as the stack's message."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hw_bridge.intake import MODE, TEMPERATURE
from hw_bridge.options import SensingOptions
from hw_bridge.wire.low_state import zero_low_state
from runtime.messages import SensorReading, decode, encode
from tests.a1 import WIRE
from tests.hw_bridge.safety.safety_samples import sample_of


def sample(sensing=None, **fields):
    """A sample as the wire would carry it."""
    return sample_of(zero_low_state(WIRE)._replace(**fields), 9.5, 9.0, 77, sensing)


@pytest.mark.parametrize("seed", range(5))
def test_every_number_stands_where_the_stack_expects_it(seed):
    rng = np.random.default_rng(seed)
    believed = sample(
        SensingOptions(0.5, (1.0, -2.0, 3.0, 4.0)), quaternion_wxyz=rng.normal(size=4),
        gyroscope=rng.normal(size=3), accelerometer=rng.normal(size=3), q=rng.normal(size=20),
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
    assert_array_equal(believed.numbers[MODE], state.mode[:12])
    assert_array_equal(believed.numbers[TEMPERATURE], state.temperature[:12])
    assert decode(SensorReading, encode(reading)) == reading
