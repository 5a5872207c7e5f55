"""Writes LowState frames in place: what changes in every tick, and no more."""

from collections.abc import Mapping

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hw_bridge.emulator.motors import AIR
from hw_bridge.emulator.options import EmulatorOptions
from hw_bridge.wire.frame import seal
from hw_bridge.wire.layout import JOINTS, OVERHEATED, SERVO, Wire
from hw_bridge.wire.remote import encode_remote
from robots.record import Record
from runtime.messages import SensorReading

Array = NDArray[np.float64]


@njit(cache=True)
def write_numbers(
    state: Record, torque_scale: int, quaternion: Array, gyroscope: Array, accelerometer: Array,
    q: Array, dq: Array, ddq: Array, torque: Array, temperature: Array, foot_counts: Array,
) -> None:  # fmt: skip
    """Write one tick's numbers into a state (1), integers saturated, NaN among them 0.

    Torques are floats where `torque_scale` is 0. `quaternion` is x, y, z, w; the frame's is
    w, x, y, z, and its angles follow from it.
    """
    s, (x, y, z, w) = state[0], quaternion
    s.quaternion_wxyz[0], s.quaternion_wxyz[1:] = w, quaternion[:3]
    s.gyroscope[:], s.accelerometer[:] = gyroscope, accelerometer
    s.rpy[0] = np.arctan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    s.rpy[1] = np.arcsin(min(1.0, max(-1.0, 2.0 * (w * y - z * x))))
    s.rpy[2] = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    for i in range(12):
        motor = s.motors[i]
        motor.q = motor.q_raw = q[i]
        motor.dq = motor.dq_raw = dq[i]
        if torque_scale == 0:
            motor.ddq = motor.ddq_raw = ddq[i]
            motor.tau_est = torque[i]
        else:
            motor.ddq = motor.ddq_raw = _saturated(ddq[i], 32767.0)
            motor.tau_est = _saturated(torque_scale * torque[i], 32767.0)
        motor.temperature = _saturated(temperature[i], 127.0)
    for i in range(4):
        s.foot_force[i] = _saturated(foot_counts[i], 32767.0)


@njit(cache=True)
def _saturated(value: float, largest: float) -> int:
    """Truncated toward zero."""
    if np.isnan(value):
        return 0
    return int(min(largest, max(-largest - 1.0, value)))


OVERHEAT_ERROR = 4  # reserve[0] of a motor that has shut down (unitree_legged_sdk thread 54)
_SELF_HEATING = 10.0  # [K] of the IMU's board over the air: an assumption


class StateFrame:
    """The robot's state as bytes."""

    def __init__(self, options: EmulatorOptions, wire: Wire) -> None:
        """Prepare a frame with what never changes; compile what is compiled."""
        self._wire, self._frame = wire, bytearray(wire.state.itemsize)
        self._record = np.frombuffer(self._frame, np.dtype((np.record, wire.state)))
        record = self._record[0]
        self._motors = record["motors"][:JOINTS]
        self._offset = np.array(options.foot_force_offset, np.float64)
        self._echoed = (b"", b"")
        zero = np.zeros(JOINTS)
        write_numbers(
            self._record, wire.torque_scale, np.array([0.0, 0.0, 0.0, 1.0]), zero[:3], zero[:3],
            zero, zero, zero, zero, zero, zero[:4],
        )  # fmt: skip
        self._record[:] = np.zeros((), wire.state)
        wire.write_header(record, options.header)
        record["imu_temperature"] = int(AIR + _SELF_HEATING)
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
        write_numbers(
            self._record, self._wire.torque_scale, reading.quaternion_imu_in_world,
            reading.angular_velocity_imu, reading.linear_acceleration_imu, q, dq, ddq,
            reading.joint_torque, temperature,
            np.rint(reading.foot_force + self._offset),
        )  # fmt: skip
        self._record["tick"] = tick & 0xFFFFFFFF
        return seal(self._frame)
