"""The frame that is written in place holds what was measured, as far as its numbers can."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from hw_bridge.emulator.options import EmulatorOptions
from hw_bridge.emulator.state_frame import StateFrame
from hw_bridge.wire.frame import frame_fault, record_in
from hw_bridge.wire.layout import OVERHEATED, SERVO, WIRES
from hw_bridge.wire.remote import decode_remote
from tests.a1 import reading

OPTIONS = EmulatorOptions()


def reading_of(random, size):
    return reading(
        quaternion_imu_in_world=Rotation.random(random_state=random).as_quat(),
        angular_velocity_imu=size * random.standard_normal(3),
        linear_acceleration_imu=size * random.standard_normal(3),
        joint_torque=size * random.standard_normal(12),
        foot_force=size * random.standard_normal(4),
    )


@given(st.integers(0, 2**32 - 1), st.sampled_from([1.0, 100.0, 1e5, 1e30, np.nan]),
       st.integers(0, 2**33), st.sampled_from(sorted(WIRES)))  # fmt: skip
def test_every_number_stands_in_its_place(seed, size, tick, name):
    random, wire = np.random.default_rng(seed), WIRES[name]
    now, frame = reading_of(random, size), StateFrame(OPTIONS, wire)
    q, dq, ddq = random.standard_normal((3, 12)) * [[1.0], [10.0], [size]]
    temperature = random.uniform(-200.0, 200.0, 12)
    mode, shut = np.where(random.random(12) < 0.5, SERVO, 0), random.random(12) < 0.3
    frame.set_motors(mode, shut)
    frame.hold_remote(frozenset({"L2", "B"}), {})
    written = bytearray(frame.write(now, q, dq, ddq, temperature, tick))
    assert not frame_fault(written, wire.state.itemsize)
    record = record_in(written, wire.state)
    motors, counts = record["motors"][:12], wire.torque_scale

    def whole(values, least=-32768, most=32767):
        return np.trunc(np.clip(np.nan_to_num(values, nan=0.0), least, most))

    x, y, z, w = now.quaternion_imu_in_world
    acceleration = whole(ddq) if counts else ddq
    torque = whole(counts * now.joint_torque) if counts else now.joint_torque
    expected = {
        "quaternion_wxyz": [w, x, y, z],
        "rpy": Rotation.from_quat([x, y, z, w]).as_euler("ZYX")[::-1],
        "gyroscope": now.angular_velocity_imu, "accelerometer": now.linear_acceleration_imu,
        "foot_force": whole(np.rint(now.foot_force + OPTIONS.foot_force_offset)),
        "q": q, "q_raw": q, "dq": dq, "dq_raw": dq, "ddq": acceleration, "ddq_raw": acceleration,
        "tau_est": torque, "temperature": whole(temperature, -128, 127),
        "mode": np.where(shut, OVERHEATED, np.where(mode == SERVO, wire.servo, mode)),
    }  # fmt: skip
    for field, value in expected.items():
        found = (record if field in wire.state.names else motors)[field]
        assert_allclose(found, value, rtol=1e-6, atol=1e-4 * (field == "rpy"), err_msg=field)
    assert_array_equal(motors["reserve"][:, 0], np.where(shut, 4, 0))
    assert decode_remote(record["remote"].tobytes()).buttons == {"L2", "B"}
    assert record["tick"] == tick % 2**32 and record["imu_temperature"] == 35
    assert wire.read_header(record) == OPTIONS.header
