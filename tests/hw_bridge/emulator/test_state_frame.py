"""The frame that is written in place is the codec's own, byte for byte."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from hw_bridge.emulator.options import EmulatorOptions
from hw_bridge.emulator.state_frame import StateFrame
from hw_bridge.wire.low_state import decode_low_state, encode_low_state
from hw_bridge.wire.remote import decode_remote
from tests.a1 import WIRE, reading

OPTIONS = EmulatorOptions(foot_force_scale=0.5)


def reading_of(random, size):
    return reading(
        quaternion_imu_in_world=Rotation.random(random_state=random).as_quat(),
        angular_velocity_imu=size * random.standard_normal(3),
        linear_acceleration_imu=size * random.standard_normal(3),
        joint_torque=size * random.standard_normal(12),
        foot_force=size * random.standard_normal(4),
    )


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1.0, 100.0, 1e5, 1e30]), st.integers(0, 2**33))
def test_its_bytes_are_those_of_the_codec(seed, size, tick):
    random = np.random.default_rng(seed)
    now, frame = reading_of(random, size), StateFrame(OPTIONS, WIRE)
    q, dq, ddq = random.standard_normal((3, 12)) * [[1.0], [10.0], [size]]
    temperature = random.uniform(-200.0, 200.0, 12)
    mode, shut = np.where(random.random(12) < 0.5, 10, 0), random.random(12) < 0.3
    frame.set_motors(mode, shut)
    frame.hold_remote(frozenset({"L2", "B"}), {})
    written = frame.write(now, q, dq, ddq, temperature, tick)
    state = decode_low_state(WIRE, written)
    assert encode_low_state(WIRE, state) == written

    x, y, z, w = now.quaternion_imu_in_world
    int16 = -32768, 32767
    expected = {
        "quaternion_wxyz": [w, x, y, z],
        "rpy": Rotation.from_quat([x, y, z, w]).as_euler("ZYX")[::-1],
        "gyroscope": now.angular_velocity_imu,
        "accelerometer": now.linear_acceleration_imu,
        "q": q, "q_raw": q, "dq": dq, "dq_raw": dq, "ddq": np.trunc(np.clip(ddq, *int16)),
        "tau_est": np.trunc(np.clip(256.0 * now.joint_torque, *int16)) / 256.0,
        "foot_force": np.clip(
            np.rint(now.foot_force / 0.5 + OPTIONS.foot_force_offset), *int16
        ),
        "temperature": np.trunc(np.clip(temperature, -128, 127)), "mode": np.where(shut, 8, mode),
    }  # fmt: skip
    for name, value in expected.items():
        found = getattr(state, name)[: len(value)]
        assert_allclose(found, value, rtol=1e-6, atol=1e-4 * (name == "rpy"))
    assert_array_equal(state.motor_reserve[:12, 0], np.where(shut, 4, 0))
    assert (state.tick, state.header) == (tick % 2**32, OPTIONS.header)
    assert decode_remote(state.remote).buttons == {"L2", "B"}
