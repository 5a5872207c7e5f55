"""LowState: what the robot measures."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hw_bridge.wire.frame import check_frame, record_in, seal
from hw_bridge.wire.layout import REMOTE_BYTES, SERVO, Header, Wire

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


def zero_low_state(wire: Wire) -> LowState:
    """All zero but the level flag and an upright quaternion: a state to set fields of."""
    blank = np.zeros((), wire.state)
    blank["quaternion_wxyz"][0] = 1.0
    return read_low_state(wire, blank.tobytes())._replace(header=Header())


def decode_low_state(wire: Wire, frame: bytes) -> LowState:
    """Read a frame; its arrays are copies.

    Raises:
        WireError: the frame is not whole. Numbers that are not finite are no fault of a frame.
    """
    check_frame(frame, wire.state.itemsize)
    return read_low_state(wire, frame)


def encode_low_state(wire: Wire, state: LowState) -> bytes:
    """Write a sealed frame.

    What the frame cannot carry saturates, what lies between two counts is truncated toward zero,
    and what is not a number becomes 0 where the frame has an integer. The tick wraps around.

    Raises:
        ValueError: an array of another shape, or `remote` of another length.
    """
    frame = bytearray(wire.state.itemsize)
    record = record_in(frame, wire.state)
    with np.errstate(all="ignore"):  # a float64 beyond float32 becomes inf
        _write(wire, record, state)
    return seal(frame)


def read_low_state(wire: Wire, frame: bytes) -> LowState:
    """Read a frame that is known to be whole; its arrays are copies."""
    with np.errstate(all="ignore"):  # a signalling NaN
        return _read(wire, frame)


# Names of our fields by their type on the wire: floats, and numbers that are whole there.
_FLOATS = ("quaternion_wxyz", "gyroscope", "accelerometer", "rpy")
_WHOLE = ("imu_temperature", "foot_force", "foot_force_est", "reserve")
_MOTOR_FLOATS = ("q", "dq", "q_raw", "dq_raw")
_MOTOR_COUNTS = ("ddq", "tau_est", "ddq_raw")
_MOTOR_WHOLE = {"mode": "mode", "temperature": "temperature", "motor_reserve": "reserve"}
_MOTOR_SATURATED = {name: name for name in _MOTOR_COUNTS} | _MOTOR_WHOLE


def _read(wire: Wire, frame: bytes) -> LowState:
    record = record_in(frame, wire.state)
    motors = record["motors"]
    fields: dict[str, Any] = {name: record[name].astype(np.float64) for name in _FLOATS}
    fields |= {name: record[name].astype(np.int64) for name in _WHOLE}
    fields |= {name: motors[name].astype(np.float64) for name in (*_MOTOR_FLOATS, *_MOTOR_COUNTS)}
    fields |= {name: motors[there].astype(np.int64) for name, there in _MOTOR_WHOLE.items()}
    fields["tau_est"] /= wire.torque_scale or 1.0
    if wire.servo != SERVO:
        fields["mode"][fields["mode"] == wire.servo] = SERVO
    fields.update((name, int(record[name])) for name in ("imu_temperature", "tick", "reserve"))
    fields.update(header=wire.read_header(record), remote=record["remote"].tobytes())
    return LowState(**fields)


def _write(wire: Wire, record: NDArray[np.void], state: LowState) -> None:
    motors, mode = record["motors"], np.asarray(state.mode)
    scaled = state._replace(
        tau_est=(wire.torque_scale or 1.0) * np.asarray(state.tau_est),
        mode=np.where(mode == SERVO, wire.servo, mode),
    )
    wire.write_header(record, state.header)
    for name in _FLOATS:
        record[name] = _shaped(record[name], getattr(state, name))
    for name in _MOTOR_FLOATS:
        motors[name] = _shaped(motors[name], getattr(state, name))
    for name in _WHOLE:
        record[name] = _saturated(record[name], getattr(state, name))
    for name, there in _MOTOR_SATURATED.items():
        motors[there] = _saturated(motors[there], getattr(scaled, name))
    record["tick"] = state.tick & 0xFFFFFFFF
    record["remote"] = _remote(state.remote)


def _shaped(field: NDArray[Any], values: Any) -> NDArray[Any]:
    """The values, if their shape is the field's."""
    values = np.asarray(values)
    if values.shape != field.shape:
        raise ValueError(f"expected shape {field.shape}, got {values.shape}")
    return values


def _saturated(field: NDArray[Any], values: Any) -> NDArray[Any]:
    """The values within the field's integers, 0 for what is no number; of floats as they are."""
    if field.dtype.kind == "f":
        return _shaped(field, values)
    limits = np.iinfo(field.dtype)
    numbers = _shaped(field, np.asarray(values, np.float64))
    return np.clip(np.where(np.isnan(numbers), 0.0, numbers), limits.min, limits.max)


def _remote(data: bytes) -> NDArray[np.uint8]:
    if len(data) != REMOTE_BYTES:
        raise ValueError(f"remote must be {REMOTE_BYTES} bytes, got {len(data)}")
    return np.frombuffer(data, np.uint8)
