"""The frame that is written in place is the codec's own, byte for byte."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from hw_bridge.emulator.options import EmulatorOptions
from hw_bridge.emulator.state_frame import StateFrame
from hw_bridge.wire.low_state import decode_low_state, encode_low_state
from hw_bridge.wire.remote import decode_remote
from runtime.messages import SensorReading
from tests.a1 import WIRE

OPTIONS = EmulatorOptions(foot_force_scale=0.5)


def reading_of(random: np.random.Generator, size: float) -> SensorReading:
    return SensorReading(
        tick=1,
        time=0.001,
        quaternion_imu_in_world=Rotation.random(random_state=random).as_quat(),
        angular_velocity_imu=size * random.standard_normal(3),
        linear_acceleration_imu=size * random.standard_normal(3),
        joint_position=random.standard_normal(12),
        joint_velocity=random.standard_normal(12),
        joint_torque=size * random.standard_normal(12),
        foot_force=size * random.standard_normal(4),
    )


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1.0, 100.0, 1e5, 1e30]), st.integers(0, 2**33))
def test_its_bytes_are_those_of_the_codec(seed: int, size: float, tick: int) -> None:
    random = np.random.default_rng(seed)
    reading, frame = reading_of(random, size), StateFrame(OPTIONS, WIRE)
    q, dq, ddq = random.standard_normal((3, 12)) * [[1.0], [10.0], [size]]
    temperature = random.uniform(-200.0, 200.0, 12)
    mode, shut = np.where(random.random(12) < 0.5, 10, 0), random.random(12) < 0.3
    frame.set_motors(mode, shut)
    frame.hold_remote(frozenset({"L2", "B"}), {})
    written = frame.write(reading, q, dq, ddq, temperature, tick)
    state = decode_low_state(WIRE, written)
    assert encode_low_state(WIRE, state) == written

    x, y, z, w = reading.quaternion_imu_in_world
    np.testing.assert_allclose(state.quaternion_wxyz, [w, x, y, z], rtol=1e-6)
    expected = Rotation.from_quat([x, y, z, w]).as_euler("ZYX")[::-1]
    np.testing.assert_allclose(state.rpy, expected, atol=1e-4)
    floats = {
        "gyroscope": reading.angular_velocity_imu,
        "accelerometer": reading.linear_acceleration_imu,
        "q": q,
        "q_raw": q,
        "dq": dq,
        "dq_raw": dq,
    }
    for name, value in floats.items():
        np.testing.assert_allclose(getattr(state, name)[: len(value)], value, rtol=1e-6)
    np.testing.assert_array_equal(state.ddq[:12], np.trunc(np.clip(ddq, -32768, 32767)))
    torque = np.trunc(np.clip(256.0 * reading.joint_torque, -32768, 32767)) / 256.0
    np.testing.assert_array_equal(state.tau_est[:12], torque)
    counts = np.rint(reading.foot_force / 0.5 + OPTIONS.foot_force_offset)
    np.testing.assert_array_equal(state.foot_force, np.clip(counts, -32768, 32767))
    np.testing.assert_array_equal(state.temperature[:12], np.trunc(np.clip(temperature, -128, 127)))
    np.testing.assert_array_equal(state.mode[:12], np.where(shut, 8, mode))
    np.testing.assert_array_equal(state.motor_reserve[:12, 0], np.where(shut, 4, 0))
    assert state.tick == tick % 2**32
    assert state.header == OPTIONS.header
    assert decode_remote(state.remote).buttons == {"L2", "B"}
