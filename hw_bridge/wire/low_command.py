"""LowCmd: what the robot shall do, and the setpoints of its motors' control law."""

from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hw_bridge.wire.frame import checksum, record_in
from hw_bridge.wire.layout import JOINTS, POS_STOP, SERVO, VEL_STOP, Header, Wire
from robots.motor_law import motor_torque
from runtime.messages import MotorCommand
from runtime.rows import layout_of

Array = NDArray[np.float64]
_SPANS: Final = layout_of(MotorCommand).spans
SENT: Final = slice(_SPANS["q"].start, _SPANS["tau"].stop)  # q, dq, kp, kd, tau of a command's row
assert SENT.stop == SENT.start + 5 * JOINTS


class Setpoints(NamedTuple):
    """The inputs of the 12 motors' law, see `robots.motor_law`.

    POS_STOP as q switches its position term off, VEL_STOP as dq its velocity term.

    Attributes:
        q: (12) [rad].
        dq: (12) [rad/s].
        kp: (12) [N m/rad].
        kd: (12) [N m s/rad].
        tau: (12) [N m].
    """

    q: Array
    dq: Array
    kp: Array
    kd: Array
    tau: Array

    @property
    def rows(self) -> Array:
        """A row (12, 5) for each motor."""
        return np.stack(self, axis=1)

    def torque(self, q: Array, dq: Array) -> Array:
        """Torques (12) [N m] of the law at measured joints q (12) [rad], dq (12) [rad/s]."""
        kp = np.where(self.q == POS_STOP, 0.0, self.kp)
        kd = np.where(self.dq == VEL_STOP, 0.0, self.kd)
        return motor_torque(self.q, self.dq, kp, kd, self.tau, q, dq)


def no_torque() -> Setpoints:
    """Both loops off, zero gains and torque: what the vendor's InitCmdData prepares."""
    return _alike(POS_STOP, VEL_STOP, 0.0, 0.0, 0.0)


def damping(kd: float) -> Setpoints:
    """Position loop off, torque -kd dq_measured, with kd in [N m s/rad]."""
    return _alike(POS_STOP, 0.0, 0.0, kd, 0.0)


def setpoints_of(command: Array) -> Setpoints:
    """Setpoints of a row of `MotorCommand`."""
    return Setpoints(*command[SENT].reshape(5, JOINTS))


def _alike(*values: float) -> Setpoints:
    return Setpoints(*(np.full(JOINTS, value) for value in values))


Scales = NDArray[np.float32]


@njit(cache=True)
def cut_gains(scales: Scales, rows: Array, q: Array, dq: Array) -> None:
    """Cut gains to the wire's counts, and keep the law's torque at measured joints, in place.

    A wire of counts truncates kd to 1/16 N m s/rad: at 20 rad/s that alone changes a torque by
    1.2 N m. With tau' = tau + (kp - kp') (q_des - q) + (kd - kd') (dq_des - dq) the law gives what
    it gave at the sampling instant. A velocity loop that is switched off has no part in it. A motor
    without a position loop is damped and gets no torque: one that stays where its speed does not
    would drive it. It loses less than 1/16 N m s/rad.

    Args:
        scales: of the wire.
        rows: (12, 5) of each motor q_des [rad], dq_des [rad/s], kp, kd, tau [N m].
        q, dq: measured joints (12) [rad], [rad/s].
    """
    kp_scale, kd_scale = float(scales[1]), float(scales[2])
    if kp_scale == 0.0:
        return
    for i in range(JOINTS):
        row, lost = rows[i], 0.0
        kp, kd = np.trunc(row[2] * kp_scale) / kp_scale, np.trunc(row[3] * kd_scale) / kd_scale
        if row[0] != POS_STOP:
            lost = (row[2] - kp) * (row[0] - q[i])
            if row[1] != VEL_STOP:
                lost += (row[3] - kd) * (row[1] - dq[i])
        row[2], row[3], row[4] = kp, kd, row[4] + lost


class LowCommandEncoder:
    """Writes setpoints into frames. Its `encode` never raises.

    Attributes:
        wire: of the robot.
        bytes: of the next frame; header and modes are in place.
        saturated: torques and gains that were cut to what the frame can carry.
    """

    def __init__(self, wire: Wire, header: Header | None = None) -> None:
        """Prepare a frame as the vendor's InitCmdData does: 20 motors in servo mode, no torque."""
        self.saturated = 0
        self.wire = wire
        self._frame = bytearray(wire.command.itemsize)
        self._record = record_in(self._frame, wire.command)
        self.header = header or Header()
        motors = self._record["motors"]
        motors["q"], motors["dq"], motors["mode"] = POS_STOP, VEL_STOP, wire.servo
        self.bytes = np.frombuffer(self._frame, np.uint8)
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
        Motors 12 to 19 get no torque.
        """
        wire = self.wire
        self.saturated += write_motors(setpoints.rows, wire.motors_at, wire.scales, self.bytes)
        return bytes(self._frame)


@njit(cache=True)
def write_motors(
    rows: Array, places: NDArray[np.int64], scales: Scales, frame: NDArray[np.uint8]
) -> int:
    """Write twelve motors into a frame, and its checksum; how many numbers were cut.

    float32 throughout, as the vendor's, so that counts are equal.

    Args:
        rows: (12, 5) of each motor q_des [rad], dq_des [rad/s], kp, kd, tau [N m].
        places, scales: `Wire.motors_at` and `Wire.scales`.
        frame: written.
    """
    saturated = 0
    floats, counts = np.empty(5, np.float32), np.empty(3, np.int16)
    float_bytes, count_bytes = floats.view(np.uint8), counts.view(np.uint8)
    for i in range(JOINTS):
        floats[0], floats[1], floats[2] = rows[i, 0], rows[i, 1], rows[i, 4]
        floats[3], floats[4] = rows[i, 2], rows[i, 3]
        if not np.isfinite(floats).all():
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
    crc = checksum(frame)
    for i in range(4):
        frame[len(frame) - 4 + i] = np.uint8(crc >> np.uint32(8 * i))
    return saturated


class LowCommand(NamedTuple):
    """A decoded frame.

    Attributes:
        header: as sent.
        mode: (20) of the motors.
        setpoints: of motors 0 to 11.
    """

    header: Header
    mode: NDArray[np.int64]
    setpoints: Setpoints


def read_low_command(wire: Wire, frame: bytes) -> LowCommand:
    """Read a whole frame, see `frame_fault`; numbers that are not finite are no fault of it."""
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
    setpoints = Setpoints(q, dq, kp / kp_scale, kd / kd_scale, tau / tau_scale)
    return LowCommand(wire.read_header(record), mode, setpoints)
