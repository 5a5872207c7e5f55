"""LowState: what the robot measures, 771 bytes."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hw_bridge.wire.frame import check_frame, record_in, seal
from hw_bridge.wire.header import Header, read_header, write_header
from hw_bridge.wire.layout import (
    LOW_STATE,
    LOW_STATE_SIZE,
    MOTORS,
    REMOTE_BYTES,
    TORQUE_SCALE,
)
from hw_bridge.wire.saturation import Saturation

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


class LowState(NamedTuple):
    """A decoded frame. Motors 12 to 19 are unused; ours come first, in the stack's own order.

    Attributes:
        header: who speaks.
        quaternion_wxyz: (4) of the IMU in the world.
        gyroscope: (3) in body axes [rad/s].
        accelerometer: (3) specific force in body axes [m/s^2].
        rpy: (3) roll, pitch, yaw [rad].
        imu_temperature: [deg C].
        mode: (20) of the motors: SERVO, BRAKE, OVERHEATED or another.
        q: (20) [rad].
        dq: (20) [rad/s].
        ddq: (20) [rad/s^2], whole numbers on the wire.
        tau_est: (20) [N m], in steps of 1/256.
        q_raw: (20), like q; comm.h does not say what they differ in.
        dq_raw: (20), like dq.
        ddq_raw: (20), like ddq.
        temperature: (20) [deg C].
        motor_reserve: (20, 2); the first says why a motor shut down (4: overheated).
        foot_force: (4) [counts], with offsets of their own, FR, FL, RR, RL.
        foot_force_est: (4) [counts].
        tick: the robot's clock, modulo 2^32; drivers disagree whether in ms or in us.
        remote: 40 bytes of the remote control, see `decode_remote`.
        reserve: of the frame.
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
    ddq: Array
    tau_est: Array
    q_raw: Array
    dq_raw: Array
    ddq_raw: Array
    temperature: Integers
    motor_reserve: Integers
    foot_force: Integers
    foot_force_est: Integers
    tick: int
    remote: bytes
    reserve: int


def zero_low_state() -> LowState:
    """All zero but the level flag and an upright quaternion: a state to set fields of."""
    blank = np.zeros((), LOW_STATE)
    blank["quaternion_wxyz"][0] = 1.0
    return _read(blank)._replace(header=Header())


def decode_low_state(frame: bytes) -> LowState:
    """Read a frame of 771 bytes; its arrays are copies.

    Raises:
        WireError: the frame is not whole. Numbers that are not finite are no fault of a frame.
    """
    check_frame(frame, LOW_STATE_SIZE)
    return _read(record_in(frame, LOW_STATE))


def encode_low_state(state: LowState) -> bytes:
    """Write a sealed frame of 771 bytes.

    What the frame cannot carry saturates, what lies between two counts is truncated toward zero,
    and what is not a number becomes 0 where the frame has an integer. The tick wraps around.

    Raises:
        ValueError: an array of another shape, or `remote` of another length.
    """
    frame = bytearray(LOW_STATE_SIZE)
    record = record_in(frame, LOW_STATE)
    with np.errstate(all="ignore"):  # a float64 beyond float32 becomes inf
        _write(record, state)
    return seal(frame)


def _read(record: NDArray[np.void]) -> LowState:
    with np.errstate(all="ignore"):  # a signalling NaN
        return _read_quietly(record)


def _read_quietly(record: NDArray[np.void]) -> LowState:
    motors = record["motors"]
    return LowState(
        header=read_header(record),
        quaternion_wxyz=_floats(record["quaternion_wxyz"]),
        gyroscope=_floats(record["gyroscope"]),
        accelerometer=_floats(record["accelerometer"]),
        rpy=_floats(record["rpy"]),
        imu_temperature=record["imu_temperature"].item(),
        mode=_integers(motors["mode"]),
        q=_floats(motors["q"]),
        dq=_floats(motors["dq"]),
        ddq=_floats(motors["ddq"]),
        tau_est=motors["tau_est"] / TORQUE_SCALE,
        q_raw=_floats(motors["q_raw"]),
        dq_raw=_floats(motors["dq_raw"]),
        ddq_raw=_floats(motors["ddq_raw"]),
        temperature=_integers(motors["temperature"]),
        motor_reserve=_integers(motors["reserve"]),
        foot_force=_integers(record["foot_force"]),
        foot_force_est=_integers(record["foot_force_est"]),
        tick=record["tick"].item(),
        remote=record["remote"].tobytes(),
        reserve=record["reserve"].item(),
    )


def _floats(field: NDArray[Any]) -> Array:
    return field.astype(np.float64)


def _integers(field: NDArray[Any]) -> Integers:
    return field.astype(np.int64)


_PLAIN = ("quaternion_wxyz", "gyroscope", "accelerometer", "rpy")
_MOTOR_PLAIN = ("q", "dq", "q_raw", "dq_raw")
_COUNTED = {
    "imu_temperature": ("i1", ()),
    "foot_force": ("i2", (4,)),
    "foot_force_est": ("i2", (4,)),
    "reserve": ("u4", ()),
}
_MOTOR_COUNTED = {
    "mode": ("u1", (MOTORS,)),
    "ddq": ("i2", (MOTORS,)),
    "tau_est": ("i2", (MOTORS,)),
    "ddq_raw": ("i2", (MOTORS,)),
    "temperature": ("i1", (MOTORS,)),
    "motor_reserve": ("u4", (MOTORS, 2)),
}
_INTEGERS = Saturation({**_COUNTED, **_MOTOR_COUNTED})


def _write(record: NDArray[np.void], state: LowState) -> None:
    write_header(record, state.header)
    scaled = TORQUE_SCALE * np.asarray(state.tau_est)
    motors, counts = record["motors"], _INTEGERS.counts(state._asdict() | {"tau_est": scaled})
    for name in _PLAIN:
        record[name][:] = getattr(state, name)
    for name in _MOTOR_PLAIN:
        motors[name] = getattr(state, name)
    for name in _COUNTED:
        record[name] = counts[name]
    for name in _MOTOR_COUNTED:
        motors[name.removeprefix("motor_")] = counts[name]
    record["tick"] = state.tick & 0xFFFFFFFF
    record["remote"] = _remote(state.remote)


def _remote(data: bytes) -> NDArray[np.uint8]:
    if len(data) != REMOTE_BYTES:
        raise ValueError(f"remote must be {REMOTE_BYTES} bytes, got {len(data)}")
    return np.frombuffer(data, np.uint8)
