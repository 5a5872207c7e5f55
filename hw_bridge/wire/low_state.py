"""LowState: what the robot measures."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hw_bridge.wire.frame import check_frame, record_in
from hw_bridge.wire.layout import SERVO, Header, Wire

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


class LowState(NamedTuple):
    """A decoded frame. Motors 12 to 19 are unused; ours come first, in the stack's own order.

    Attributes:
        header: of the robot.
        quaternion_wxyz: (4) of the IMU in the world.
        gyroscope: (3) in body axes [rad/s].
        accelerometer: (3) specific force in body axes [m/s^2].
        rpy: (3) roll, pitch, yaw [rad].
        imu_temperature: [deg C].
        mode: (20) of the motors: SERVO, BRAKE, OVERHEATED or another.
        q: (20) [rad].
        dq: (20) [rad/s].
        tau_est: (20) [N m], in steps of 1/256.
        temperature: (20) [deg C].
        foot_force: (4) [counts], with offsets of their own, FR, FL, RR, RL.
        foot_force_est: (4) [counts].
        tick: the robot's clock, modulo 2^32; drivers disagree whether in ms or in us.
        remote: 40 bytes of the remote control, see `decode_remote`.
    """

    header: Header
    quaternion_wxyz: Array
    gyroscope: Array
    accelerometer: Array
    rpy: Array
    imu_temperature: int
    mode: Integers
    q: Array
    dq: Array
    tau_est: Array
    temperature: Integers
    foot_force: Integers
    foot_force_est: Integers
    tick: int
    remote: bytes


_SINGLE = ("header", "imu_temperature", "tick", "remote")
_IN_MOTORS = ("mode", "q", "dq", "tau_est", "temperature")


def decode_low_state(wire: Wire, frame: bytes) -> LowState:
    """Read a frame; its arrays are copies.

    Raises:
        WireError: the frame is not whole. Numbers that are not finite are no fault of a frame.
    """
    check_frame(frame, wire.state.itemsize)
    return read_low_state(wire, frame)


def read_low_state(wire: Wire, frame: bytes) -> LowState:
    """Read a frame that is known to be whole; its arrays are copies."""
    record = record_in(frame, wire.state)
    arrays: dict[str, Any] = {}
    with np.errstate(all="ignore"):  # a signalling NaN
        for name in LowState._fields:
            if name not in _SINGLE:
                field = (record["motors"] if name in _IN_MOTORS else record)[name]
                arrays[name] = field.astype(np.float64 if field.dtype.kind == "f" else np.int64)
    arrays["tau_est"] = arrays["tau_est"] / (wire.torque_scale or 1.0)
    arrays["mode"][arrays["mode"] == wire.servo] = SERVO
    return LowState(
        header=wire.read_header(record), remote=record["remote"].tobytes(),
        imu_temperature=int(record["imu_temperature"]), tick=int(record["tick"]), **arrays,
    )  # fmt: skip
