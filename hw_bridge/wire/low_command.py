"""LowCmd: what the robot shall do."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hw_bridge.setpoints import Array, Setpoints, no_torque
from hw_bridge.wire.frame import check_frame, record_in, seal
from hw_bridge.wire.layout import BRAKE, JOINTS, POS_STOP, SERVO, VEL_STOP, Header, Wire

Scales = NDArray[np.float32]


def with_wire_gains(scales: Scales, setpoints: Setpoints, q: Array, dq: Array) -> Setpoints:
    """Cut gains to the wire's counts, and keep the law's torque at measured joints.

    A wire of counts truncates kd to 1/16 N m s/rad: at 20 rad/s that alone changes a torque by
    1.2 N m. With tau' = tau + (kp - kp') (q_des - q) + (kd - kd') (dq_des - dq) the law gives what
    it gave at the sampling instant. A velocity loop that is switched off has no part in it. A motor
    without a position loop is damped and gets no torque: one that stays where its speed does not
    would drive it. It loses less than 1/16 N m s/rad.

    Args:
        scales: of the wire.
        setpoints: wanted.
        q, dq: measured joints (12) [rad], [rad/s].
    """
    plain = (np.ascontiguousarray(row, np.float64) for row in (*setpoints[:5], q, dq))
    kp, kd, tau = cut_gains(scales, *plain)
    return Setpoints(setpoints.q, setpoints.dq, kp, kd, tau, setpoints.mode)


@njit(cache=True)
def cut_gains(
    scales: Scales, q_des: Array, dq_des: Array, kp: Array, kd: Array, tau: Array, q: Array,
    dq: Array,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Return kp, kd and tau of `with_wire_gains`, compiled."""
    n = kp.shape[0]
    kp_cut, kd_cut, tau_cut = kp.copy(), kd.copy(), tau.copy()
    kp_scale, kd_scale = float(scales[1]), float(scales[2])
    if kp_scale == 0.0:
        return kp_cut, kd_cut, tau_cut
    for i in range(n):
        kp_cut[i] = np.trunc(kp[i] * kp_scale) / kp_scale
        kd_cut[i] = np.trunc(kd[i] * kd_scale) / kd_scale
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

    def __init__(self, wire: Wire, header: Header | None = None) -> None:
        """Prepare a frame as the vendor's InitCmdData does: 20 motors in servo mode, no torque."""
        self.not_finite = 0
        self.saturated = 0
        self.wire = wire
        self._frame = bytearray(wire.command.itemsize)
        self._record = record_in(self._frame, wire.command)
        self._motors = self._record["motors"]
        self.header = header or Header()
        self._motors["q"], self._motors["dq"] = POS_STOP, VEL_STOP
        self._motors["mode"], self._mode = wire.servo, SERVO
        self._bytes = np.frombuffer(self._frame, np.uint8)
        self.encode(no_torque())

    @property
    def header(self) -> Header:
        """Sent with each frame; the robot's own, once it is known."""
        return self._header

    @header.setter
    def header(self, header: Header) -> None:
        self._header = header
        self.wire.write_header(self._record, header)

    def encode(self, setpoints: Setpoints) -> bytes:
        """A sealed frame.

        On a wire of counts tau beyond [-128, 127.99] N m, kp beyond [-1024, 1023.9] N m/rad and kd
        beyond [-2048, 2047.9] N m s/rad saturate, where the vendor's library wraps around: its
        200 N m are -56 on the wire. What lies between two counts is truncated toward zero, like
        the vendor's. A motor with a number that is not finite, or beyond float32, gets no torque.
        Any mode but SERVO is sent as BRAKE, for others act on the motor's calibration. Motors 12
        to 19 get the mode and no torque.
        """
        self._set_mode(SERVO if setpoints.mode == SERVO else BRAKE)
        try:
            q, dq, kp, kd, tau = (_twelve(numbers) for numbers in setpoints[:5])
        except _NO_NUMBERS:
            q = dq = kp = kd = tau = np.full(JOINTS, np.nan)
        wire = self.wire
        not_finite, saturated = write_motors(
            q, dq, kp, kd, tau, wire.motors_at, wire.scales, self._bytes
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
            self._motors["mode"] = self.wire.servo if mode == SERVO else mode
            self._mode = mode


def _twelve(numbers: Array) -> Array:
    """The numbers as compiled code takes them; one number stands for twelve.

    Raises:
        TypeError, ValueError, OverflowError: they are no twelve numbers.
    """
    plain = np.ascontiguousarray(numbers, np.float64)
    return plain if plain.shape == (JOINTS,) else np.array(np.broadcast_to(plain, JOINTS))


@njit(cache=True)
def write_motors(
    q: Array, dq: Array, kp: Array, kd: Array, tau: Array, places: NDArray[np.int64],
    scales: Scales, frame: NDArray[np.uint8],
) -> tuple[int, int]:  # fmt: skip
    """Write twelve motors into a frame; how many had to rest, and how many numbers were cut.

    float32 throughout, as the vendor's, so that counts are equal.

    Args:
        q, dq, kp, kd, tau: setpoints.
        places, scales: `Wire.motors_at` and `Wire.scales`.
        frame: written.
    """
    not_finite, saturated = 0, 0
    floats, counts = np.empty(5, np.float32), np.empty(3, np.int16)
    float_bytes, count_bytes = floats.view(np.uint8), counts.view(np.uint8)
    for i in range(JOINTS):
        floats[0], floats[1], floats[2], floats[3], floats[4] = q[i], dq[i], tau[i], kp[i], kd[i]
        if not np.isfinite(floats).all():
            not_finite += 1
            floats[:] = 0.0
            floats[0], floats[1] = POS_STOP, VEL_STOP
        for j in range(3):
            wanted = floats[2 + j] * scales[j]
            sent = min(max(wanted, np.float32(-32768.0)), np.float32(32767.0))
            saturated += sent != wanted
            counts[j] = np.int16(sent)
        for j in range(20 if scales[0] == 0.0 else 8):
            frame[places[i] + j] = float_bytes[j]
        if scales[0] != 0.0:
            for j in range(6):
                frame[places[i] + 8 + j] = count_bytes[j]
    return not_finite, saturated


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


def decode_low_command(wire: Wire, frame: bytes) -> LowCommand:
    """Read a frame.

    Raises:
        WireError: the frame is not whole. Numbers that are not finite are no fault of a frame.
    """
    check_frame(frame, wire.command.itemsize)
    record = record_in(frame, wire.command)
    motors = record["motors"]
    joints, mode = motors[:JOINTS], motors["mode"].astype(np.int64)
    if wire.servo != SERVO:
        mode[mode == wire.servo] = SERVO
    tau_scale, kp_scale, kd_scale = (float(scale) or 1.0 for scale in wire.scales)
    with np.errstate(all="ignore"):  # a signalling NaN
        q, dq, kp, kd, tau = (
            joints[name].astype(np.float64) for name in ("q", "dq", "kp", "kd", "tau")
        )
    is_served = (mode[:JOINTS] == SERVO).all()
    setpoints = Setpoints(
        q, dq, kp / kp_scale, kd / kd_scale, tau / tau_scale, SERVO if is_served else BRAKE
    )
    return LowCommand(wire.read_header(record), mode, setpoints)
