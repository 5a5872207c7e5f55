"""LowCmd: what the robot shall do, 610 bytes."""

from typing import LiteralString, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hw_bridge.setpoints import Array, Setpoints, no_torque
from hw_bridge.wire.frame import check_frame, record_in, seal
from hw_bridge.wire.layout import (
    BRAKE,
    JOINTS,
    KD_SCALE,
    KP_SCALE,
    LOW_COMMAND,
    LOW_COMMAND_SIZE,
    MOTOR_COMMAND,
    POS_STOP,
    SERVO,
    TORQUE_SCALE,
    VEL_STOP,
    Header,
    read_header,
    write_header,
)


def with_wire_gains(setpoints: Setpoints, q: Array, dq: Array) -> Setpoints:
    """Cut gains to the wire's counts, and keep the law's torque at measured joints.

    The wire truncates kd to 1/16 N m s/rad: at 20 rad/s that alone changes a torque by 1.2 N m.
    With tau' = tau + (kp - kp') (q_des - q) + (kd - kd') (dq_des - dq) the law gives what it gave
    at the sampling instant. A velocity loop that is switched off has no part in it. A motor
    without a position loop is damped and gets no torque: one that stays where its speed does not
    would drive it. It loses less than 1/16 N m s/rad.

    Args:
        setpoints: wanted.
        q, dq: measured joints (12) [rad], [rad/s].
    """
    plain = (np.ascontiguousarray(row, np.float64) for row in (*setpoints[:5], q, dq))
    kp, kd, tau = cut_gains(*plain)
    return Setpoints(setpoints.q, setpoints.dq, kp, kd, tau, setpoints.mode)


@njit(cache=True)
def cut_gains(
    q_des: Array, dq_des: Array, kp: Array, kd: Array, tau: Array, q: Array, dq: Array
) -> tuple[Array, Array, Array]:
    """Return kp, kd and tau of `with_wire_gains`, compiled."""
    n = kp.shape[0]
    kp_cut, kd_cut, tau_cut = np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        kp_cut[i] = np.trunc(kp[i] * KP_SCALE) / KP_SCALE
        kd_cut[i] = np.trunc(kd[i] * KD_SCALE) / KD_SCALE
        lost = 0.0
        if q_des[i] != POS_STOP:
            lost = (kp[i] - kp_cut[i]) * (q_des[i] - q[i])
            if dq_des[i] != VEL_STOP:
                lost += (kd[i] - kd_cut[i]) * (dq_des[i] - dq[i])
        tau_cut[i] = tau[i] + lost
    return kp_cut, kd_cut, tau_cut


# What setpoints raise that are not (12) numbers each: a mistake, for which there is no torque.
_NO_NUMBERS = (TypeError, ValueError, OverflowError)


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
        self._motors["q"], self._motors["dq"] = POS_STOP, VEL_STOP
        self._motors["mode"] = self._mode = SERVO
        self._bytes = np.frombuffer(self._frame, np.uint8)
        self._floats = np.empty((JOINTS, 2), np.float32)
        self._counts = np.empty((JOINTS, 3), np.int16)
        self.encode(no_torque())

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
        self._set_mode(SERVO if setpoints.mode == SERVO else BRAKE)
        try:
            q, dq, kp, kd, tau = (_twelve(numbers) for numbers in setpoints[:5])
        except _NO_NUMBERS:
            q = dq = kp = kd = tau = np.full(JOINTS, np.nan)
        not_finite, saturated = write_motors(
            q, dq, kp, kd, tau, self._floats, self._counts, FLOATS_AT, COUNTS_AT, self._bytes
        )
        self.not_finite += not_finite
        self.saturated += saturated
        return seal(self._frame)

    @property
    def servo_frame(self) -> NDArray[np.uint8]:
        """The bytes of the next frame, header and servo mode in place: `act` does the rest."""
        self._set_mode(SERVO)
        return self._bytes

    def _set_mode(self, mode: int) -> None:
        if mode != self._mode:
            self._motors["mode"] = self._mode = mode


def _twelve(numbers: Array) -> Array:
    """The numbers as compiled code takes them; one number stands for twelve.

    Raises:
        TypeError, ValueError, OverflowError: they are no twelve numbers.
    """
    plain = np.ascontiguousarray(numbers, np.float64)
    return plain if plain.shape == (JOINTS,) else np.array(np.broadcast_to(plain, JOINTS))


@njit(cache=True)
def write_motors(
    q: Array, dq: Array, kp: Array, kd: Array, tau: Array,
    floats: NDArray[np.float32], counts: NDArray[np.int16],
    float_places: NDArray[np.int64], count_places: NDArray[np.int64], frame: NDArray[np.uint8],
) -> tuple[int, int]:  # fmt: skip
    """Write twelve motors into a frame; how many had to rest, and how many numbers were cut.

    float32 throughout, as the vendor's, so that counts are equal.
    """
    not_finite, saturated = 0, 0
    for i in range(JOINTS):
        floats[i, 0], floats[i, 1] = q[i], dq[i]
        wanted = (
            np.float32(tau[i]) * np.float32(TORQUE_SCALE),
            np.float32(kp[i]) * np.float32(KP_SCALE),
            np.float32(kd[i]) * np.float32(KD_SCALE),
        )
        rests = not (np.isfinite(floats[i, 0]) and np.isfinite(floats[i, 1]))
        for value in (tau[i], kp[i], kd[i]):
            rests |= not np.isfinite(np.float32(value))
        if rests:
            not_finite += 1
            floats[i, 0], floats[i, 1] = POS_STOP, VEL_STOP
            counts[i, 0] = counts[i, 1] = counts[i, 2] = 0
            continue
        for j in range(3):
            sent = min(max(wanted[j], np.float32(-32768.0)), np.float32(32767.0))
            saturated += sent != wanted[j]
            counts[i, j] = np.int16(sent)
    float_bytes, count_bytes = floats.view(np.uint8), counts.view(np.uint8)
    for i in range(JOINTS):
        for j in range(8):
            frame[float_places[i] + j] = float_bytes[i, j]
        for j in range(6):
            frame[count_places[i] + j] = count_bytes[i, j]
    return not_finite, saturated


def _places(first: LiteralString) -> NDArray[np.int64]:
    """Where a motor's numbers begin in a frame, from the field `first` on."""
    assert LOW_COMMAND.fields is not None and MOTOR_COMMAND.fields is not None
    begin = LOW_COMMAND.fields["motors"][1] + MOTOR_COMMAND.fields[first][1]
    return begin + MOTOR_COMMAND.itemsize * np.arange(JOINTS)


FLOATS_AT, COUNTS_AT = _places("q"), _places("tau")  # q, dq; tau, kp, kd stand side by side


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
