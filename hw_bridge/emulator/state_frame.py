"""Writes LowState frames in place: what changes in every tick, and no more.

Numbers are gathered by type, then scattered to their places.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hw_bridge.emulator.options import EmulatorOptions
from hw_bridge.wire.frame import seal
from hw_bridge.wire.layout import JOINTS, OVERHEATED, SERVO, Wire
from hw_bridge.wire.remote import encode_remote
from runtime.messages import SensorReading

Array = NDArray[np.float64]
Bytes = NDArray[np.uint8]

# Fields by type, in the order of the staging arrays; a motor's field stands for all twelve.
_FLOATS = ("quaternion_wxyz", "gyroscope", "accelerometer", "rpy", "q", "dq", "q_raw", "dq_raw")
_EFFORTS = ("ddq", "tau_est", "ddq_raw")  # floats or shorts
_FEET = ("foot_force",)
_BYTES = ("temperature",)


class Staging(NamedTuple):
    """Views of one buffer, and where each of its bytes goes in the frame."""

    floats: NDArray[np.float32]  # (61), or (97) where torques are floats
    shorts: NDArray[np.int16]  # (40), or (4)
    temperatures: NDArray[np.int8]  # (12)
    buffer: Bytes
    places: NDArray[np.int64]


def make_staging(wire: Wire) -> Staging:
    """An empty one."""
    size, is_wide = wire.state.itemsize, wire.torque_scale == 0
    # A frame in which byte k holds k tells where fields are, whatever their strides.
    low, high = np.divmod(np.arange(size), 256)[::-1]
    kinds = ((*_FLOATS, *_EFFORTS), _FEET) if is_wide else (_FLOATS, (*_EFFORTS, *_FEET))
    places = [
        np.concatenate([_bytes_of(wire, low, name) + 256 * _bytes_of(wire, high, name)
                        for name in names])
        for names in (*kinds, _BYTES)
    ]  # fmt: skip
    floats, shorts = len(places[0]), len(places[1])
    buffer = np.zeros(sum(map(len, places)), np.uint8)
    return Staging(
        buffer[:floats].view(np.float32),
        buffer[floats : floats + shorts].view(np.int16),
        buffer[floats + shorts :].view(np.int8),
        buffer,
        np.concatenate(places),
    )


def _bytes_of(wire: Wire, frame: NDArray[np.int64], name: str) -> NDArray[np.int64]:
    """The bytes of a field, in order."""
    record = frame.astype(np.uint8).view(wire.state)[0]
    names = wire.state.names or ()
    field = record[name] if name in names else record["motors"][:JOINTS][name]
    return np.frombuffer(np.ascontiguousarray(field).tobytes(), np.uint8).astype(np.int64)


@njit(cache=True)
def scatter(
    floats: NDArray[np.float32], shorts: NDArray[np.int16], temperatures: NDArray[np.int8],
    buffer: Bytes, places: NDArray[np.int64], frame: Bytes, torque_scale: int,
    quaternion: Array, gyroscope: Array, accelerometer: Array, q: Array, dq: Array, ddq: Array,
    torque: Array, temperature: Array, foot_counts: Array,
) -> None:  # fmt: skip
    """Write one tick's numbers into the frame's bytes, integers saturated, NaN among them 0.

    Torques are floats where `torque_scale` is 0. `quaternion` is x, y, z, w; the frame's is
    w, x, y, z, and its angles follow from it.
    """
    x, y, z, w = quaternion
    floats[0], floats[1], floats[2], floats[3] = w, x, y, z
    floats[4:7], floats[7:10] = gyroscope, accelerometer
    floats[10] = np.arctan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    floats[11] = np.arcsin(min(1.0, max(-1.0, 2.0 * (w * y - z * x))))
    floats[12] = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    for i in range(12):
        floats[13 + i] = floats[37 + i] = q[i]
        floats[25 + i] = floats[49 + i] = dq[i]
        if torque_scale == 0:
            floats[61 + i] = floats[85 + i] = ddq[i]
            floats[73 + i] = torque[i]
        else:
            shorts[i] = shorts[24 + i] = _saturated(ddq[i], 32767.0)
            shorts[12 + i] = _saturated(torque_scale * torque[i], 32767.0)
        temperatures[i] = _saturated(temperature[i], 127.0)
    for i in range(4):
        shorts[len(shorts) - 4 + i] = _saturated(foot_counts[i], 32767.0)
    for k in range(buffer.shape[0]):
        frame[places[k]] = buffer[k]


@njit(cache=True)
def _saturated(value: float, largest: float) -> int:
    """Truncated toward zero."""
    if np.isnan(value):
        return 0
    return int(min(largest, max(-largest - 1.0, value)))


OVERHEAT_ERROR = 4  # reserve[0] of a motor that has shut down (unitree_legged_sdk thread 54)
_SELF_HEATING = 10.0  # [K] of the IMU's board over the air: an assumption


class StateFrame:
    """The robot's state as bytes: those of `encode_low_state`, in a third of its time."""

    def __init__(self, options: EmulatorOptions, wire: Wire) -> None:
        """Prepare a frame with what never changes; compile what is compiled."""
        self._wire, self._frame = wire, bytearray(wire.state.itemsize)
        self._bytes = np.frombuffer(self._frame, np.uint8)
        self._record = record = np.frombuffer(self._frame, wire.state)[0]
        self._motors = record["motors"][:JOINTS]
        self._staging = make_staging(wire)
        self._offset = np.array(options.foot_force_offset, np.float64)
        self._per_newton = 1.0 / options.foot_force_scale
        self._echoed = (b"", b"")
        zero = np.zeros(JOINTS)
        self._scatter(
            np.array([0.0, 0.0, 0.0, 1.0]), *zero.reshape(4, 3)[:2], *[zero] * 5, zero[:4]
        )
        self._bytes[:] = 0
        wire.write_header(record, options.header)
        record["imu_temperature"] = int(min(127.0, options.thermal.ambient + _SELF_HEATING))
        self.hold_remote(frozenset(), {})

    def hold_remote(self, buttons: frozenset[str], sticks: Mapping[str, float]) -> None:
        """Hold buttons and sticks of the remote from now on, and let go of all others."""
        self._record["remote"] = np.frombuffer(encode_remote(buttons, sticks), np.uint8)

    def set_motors(self, mode: NDArray[np.int64], shut_down: NDArray[np.bool_]) -> None:
        """Echo the modes (12) that the motors are in, and which are shut down."""
        key = mode.tobytes(), shut_down.tobytes()
        if key == self._echoed:
            return
        self._echoed = key
        told = np.where(mode == SERVO, self._wire.servo, mode)
        self._motors["mode"] = np.where(shut_down, OVERHEATED, told)
        self._motors["reserve"][:, 0] = np.where(shut_down, OVERHEAT_ERROR, 0)

    def write(
        self, reading: SensorReading, q: Array, dq: Array, ddq: Array, temperature: Array, tick: int
    ) -> bytes:
        """A sealed frame.

        comm.h does not say what tells the raw joint values from the others; here they are equal.

        Args:
            reading: IMU, torques and feet.
            q, dq, ddq: what the encoders say (12) [rad], [rad/s], [rad/s^2].
            temperature: of the motors (12) [deg C].
            tick: of the robot, any integer; the frame has its low 32 bits.
        """
        self._scatter(
            reading.quaternion_imu_in_world,
            reading.angular_velocity_imu,
            reading.linear_acceleration_imu,
            q,
            dq,
            ddq,
            reading.joint_torque,
            temperature,
            np.rint(reading.foot_force * self._per_newton + self._offset),
        )
        self._record["tick"] = tick & 0xFFFFFFFF
        return seal(self._frame)

    def _scatter(self, *numbers: Array) -> None:
        scatter(*self._staging, self._bytes, self._wire.torque_scale, *numbers)
