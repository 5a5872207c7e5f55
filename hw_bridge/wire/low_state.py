"""LowState: what the robot measures, 771 bytes."""

import struct
from typing import LiteralString, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hw_bridge.wire.frame import check_frame, record_in, seal
from hw_bridge.wire.header import Header, write_header
from hw_bridge.wire.layout import (
    LOW_STATE,
    LOW_STATE_SIZE,
    MOTOR_STATE,
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
    return read_low_state(blank.tobytes())._replace(header=Header())


def decode_low_state(frame: bytes) -> LowState:
    """Read a frame of 771 bytes; its arrays are copies.

    Raises:
        WireError: the frame is not whole. Numbers that are not finite are no fault of a frame.
    """
    check_frame(frame, LOW_STATE_SIZE)
    return read_low_state(frame)


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


def read_low_state(frame: bytes) -> LowState:
    """Read a frame that is known to be whole; its arrays are copies."""
    with np.errstate(all="ignore"):  # a signalling NaN
        return _read(frame)


# Fields by type, in the order in which they are gathered.
_GATHERED: dict[str, tuple[LiteralString, ...]] = {
    "f4": ("quaternion_wxyz", "gyroscope", "accelerometer", "rpy", "q", "dq", "q_raw", "dq_raw"),
    "i2": ("ddq", "tau_est", "ddq_raw", "foot_force", "foot_force_est"),
    "u4": ("reserve",),
    "i1": ("temperature",),
    "u1": ("mode",),
}


def _places(name: LiteralString) -> NDArray[np.int64]:
    """The bytes of a field in a frame, in order; of a motor's field those of all twenty."""
    numbers = np.arange(LOW_STATE_SIZE, dtype=np.int64)
    fields, motors = LOW_STATE.fields, MOTOR_STATE.fields
    assert fields is not None and motors is not None
    if name in motors:
        field, offset = motors[name][:2]
        begins = fields["motors"][1] + offset + MOTOR_STATE.itemsize * np.arange(MOTORS)
        return (begins[:, None] + np.arange(field.itemsize)).ravel()
    field, offset = fields[name][:2]
    return numbers[offset : offset + field.itemsize]


_ORDER = np.concatenate([_places(name) for names in _GATHERED.values() for name in names])
_ENDS = np.cumsum([0] + [sum(len(_places(name)) for name in names) for names in _GATHERED.values()])
_PARTS = [slice(*ends) for ends in zip(_ENDS[:-1].tolist(), _ENDS[1:].tolist(), strict=True)]
_HEADER = struct.Struct("<BHHIB")
_AFTER_IMU = struct.Struct("<b")
_END = struct.Struct(f"<I{REMOTE_BYTES}sII")  # tick, remote, reserve, checksum
assert LOW_STATE.fields is not None
_IMU_TEMPERATURE: int = LOW_STATE.fields["imu_temperature"][1]


def _read(frame: bytes) -> LowState:
    gathered = np.frombuffer(frame, np.uint8)[_ORDER]
    floats, shorts, words, signed, unsigned = (gathered[part] for part in _PARTS)
    x, counts = floats.view("<f4").astype(np.float64), shorts.view("<i2").astype(np.float64)
    feet = counts[60:].astype(np.int64)
    tick, remote, reserve, _ = _END.unpack_from(frame, LOW_STATE_SIZE - _END.size)
    return LowState(
        header=Header(*_HEADER.unpack_from(frame)),
        quaternion_wxyz=x[:4],
        gyroscope=x[4:7],
        accelerometer=x[7:10],
        rpy=x[10:13],
        imu_temperature=_AFTER_IMU.unpack_from(frame, _IMU_TEMPERATURE)[0],
        mode=unsigned.astype(np.int64),
        q=x[13:33],
        dq=x[33:53],
        ddq=counts[:20],
        tau_est=counts[20:40] / TORQUE_SCALE,
        q_raw=x[53:73],
        dq_raw=x[73:93],
        ddq_raw=counts[40:60],
        temperature=signed.view(np.int8).astype(np.int64),
        motor_reserve=words.view("<u4").astype(np.int64).reshape(MOTORS, 2),
        foot_force=feet[:4],
        foot_force_est=feet[4:],
        tick=tick,
        remote=remote,
        reserve=reserve,
    )


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
