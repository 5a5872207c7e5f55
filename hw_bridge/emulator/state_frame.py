"""Writes LowState frames in place: what changes in every tick, and no more."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from hw_bridge.emulator.options import EmulatorOptions
from hw_bridge.emulator.staging import make_staging, scatter
from hw_bridge.wire.frame import seal
from hw_bridge.wire.header import write_header
from hw_bridge.wire.layout import JOINTS, LOW_STATE, LOW_STATE_SIZE, OVERHEATED
from hw_bridge.wire.remote import encode_remote
from runtime.messages import SensorReading

Array = NDArray[np.float64]

OVERHEAT_ERROR = 4  # reserve[0] of a motor that has shut down (unitree_legged_sdk thread 54)
_SELF_HEATING = 10.0  # [K] of the IMU's board over the air: an assumption


class StateFrame:
    """The robot's state as bytes: those of `encode_low_state`, in a third of its time."""

    def __init__(self, options: EmulatorOptions) -> None:
        """Prepare a frame with what never changes; compile what is compiled."""
        self._frame = bytearray(LOW_STATE_SIZE)
        self._bytes = np.frombuffer(self._frame, np.uint8)
        self._record = record = np.frombuffer(self._frame, LOW_STATE)[0]
        self._motors = record["motors"][:JOINTS]
        self._staging = make_staging()
        self._offset = np.array(options.foot_force_offset, np.float64)
        self._per_newton = 1.0 / options.foot_force_scale
        self._echoed = (b"", b"")
        zero = np.zeros(JOINTS)
        self._scatter(
            np.array([0.0, 0.0, 0.0, 1.0]), *zero.reshape(4, 3)[:2], *[zero] * 5, zero[:4]
        )
        self._bytes[:] = 0
        write_header(record, options.header)
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
        self._motors["mode"] = np.where(shut_down, OVERHEATED, mode)
        self._motors["reserve"][:, 0] = np.where(shut_down, OVERHEAT_ERROR, 0)

    def write(
        self, reading: SensorReading, q: Array, dq: Array, ddq: Array, temperature: Array, tick: int
    ) -> bytes:
        """A sealed frame of 771 bytes.

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
        scatter(*self._staging, self._bytes, *numbers)
