"""LowCmd: what the robot shall do, 610 bytes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hw_bridge.setpoints import Setpoints
from hw_bridge.wire.frame import check_frame, record_in, seal
from hw_bridge.wire.header import Header, read_header, write_header
from hw_bridge.wire.layout import (
    BRAKE,
    JOINTS,
    KD_SCALE,
    KP_SCALE,
    LOW_COMMAND,
    LOW_COMMAND_SIZE,
    POS_STOP,
    SERVO,
    TORQUE_SCALE,
    VEL_STOP,
)

_REST = np.array([[POS_STOP], [VEL_STOP], [0.0], [0.0], [0.0]], np.float32)  # no torque
_SCALES = np.array([[KP_SCALE], [KD_SCALE], [TORQUE_SCALE]], np.float32)
# What setpoints raise that are not (12) numbers each: a mistake, for which there is no torque.
_NO_NUMBERS = (TypeError, ValueError, OverflowError)
_LARGEST, _SMALLEST = np.float32(32767), np.float32(-32768)  # of an int16


class LowCommandEncoder:
    """Writes setpoints into frames. Its `encode` never raises.

    Attributes:
        not_finite: motors that were given no torque, because a number of theirs was not finite.
        saturated: torques and gains that were cut to what the frame can carry.
    """

    def __init__(self, header: Header | None = None) -> None:
        """Prepare a frame as the vendor's InitCmdData does: 20 motors in servo mode, no torque."""
        self.not_finite = 0
        self.saturated = 0
        self._frame = bytearray(LOW_COMMAND_SIZE)
        self._record = record_in(self._frame, LOW_COMMAND)
        self._motors = self._record["motors"]
        self.header = header or Header()
        self._joints = self._motors[:JOINTS]
        self._values = np.empty((5, JOINTS), np.float32)  # q, dq, kp, kd, tau
        self._motors["q"], self._motors["dq"] = POS_STOP, VEL_STOP

    @property
    def header(self) -> Header:
        """Sent with each frame; the robot's own, once it is known."""
        return self._header

    @header.setter
    def header(self, header: Header) -> None:
        self._header = header
        write_header(self._record, header)

    def encode(self, setpoints: Setpoints) -> bytes:
        """A sealed frame of 610 bytes.

        tau beyond [-128, 127.99] N m, kp beyond [-1024, 1023.9] N m/rad and kd beyond
        [-2048, 2047.9] N m s/rad saturate, where the vendor's library wraps around: its 200 N m
        are -56 on the wire. What lies between two counts is truncated toward zero, like the
        vendor's. A motor with a number that is not finite, or beyond float32, gets no torque.
        Any mode but SERVO is sent as BRAKE, for others act on the motor's calibration. Motors 12
        to 19 get the mode and no torque.
        """
        self._motors["mode"] = SERVO if setpoints.mode == SERVO else BRAKE
        joints, values = self._joints, self._values
        with np.errstate(all="ignore"):  # numbers beyond float32 are dealt with, not warned of
            self._take(setpoints)
            joints["q"], joints["dq"] = values[0], values[1]
            joints["kp"], joints["kd"], joints["tau"] = self._counts()
        return seal(self._frame)

    def _take(self, setpoints: Setpoints) -> None:
        """Copy the numbers, with no torque in place of those that are not finite."""
        values = self._values
        try:
            for row, numbers in zip(values, setpoints, strict=False):  # all but the mode
                row[:] = numbers
        except _NO_NUMBERS:
            values[:] = np.nan
        finite = np.isfinite(values)
        if not finite.all():
            bad = ~finite.all(axis=0)
            values[:, bad] = _REST
            self.not_finite += int(bad.sum())

    def _counts(self) -> NDArray[np.int16]:
        """Counts (3, 12) of kp, kd, tau. float32, as the vendor's, so that counts are equal."""
        wanted = self._values[2:] * _SCALES
        sent = np.minimum(np.maximum(wanted, _SMALLEST), _LARGEST)
        self.saturated += int(np.count_nonzero(wanted != sent))
        return sent.astype(np.int16)


class LowCommand(NamedTuple):
    """A decoded frame.

    Attributes:
        header: as sent.
        mode: (20) of the motors.
        setpoints: of motors 0 to 11; its mode is SERVO if all twelve are in it, else BRAKE.
    """

    header: Header
    mode: NDArray[np.int64]
    setpoints: Setpoints


def decode_low_command(frame: bytes) -> LowCommand:
    """Read a frame of 610 bytes.

    Raises:
        WireError: the frame is not whole. Numbers that are not finite are no fault of a frame.
    """
    check_frame(frame, LOW_COMMAND_SIZE)
    record = record_in(frame, LOW_COMMAND)
    motors = record["motors"]
    joints, mode = motors[:JOINTS], motors["mode"].astype(np.int64)
    with np.errstate(all="ignore"):  # a signalling NaN
        q, dq = joints["q"].astype(np.float64), joints["dq"].astype(np.float64)
    setpoints = Setpoints(
        q,
        dq,
        joints["kp"] / KP_SCALE,
        joints["kd"] / KD_SCALE,
        joints["tau"] / TORQUE_SCALE,
        SERVO if (mode[:JOINTS] == SERVO).all() else BRAKE,
    )
    return LowCommand(read_header(record), mode, setpoints)
