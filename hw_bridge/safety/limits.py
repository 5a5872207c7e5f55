"""The limits on a command, the last before it is packed for the wire.

The torque that the law would give at the measured joints goes through the limits one after the
other, the ones that keep the robot whole last, so that none undoes another:

    slew      |u - what the command before would give now| <= step
    torque    |u| <= limit
    range     near the end of its range no torque drives a joint out; beyond it a spring pulls back
    velocity  near the speed limit less and less torque drives a joint faster
    power     u dq <= limit of a motor; sum |u dq| <= limit of all

Then targets and gains come within bounds, and tau is what makes the law give u. A motor that no
limit touches keeps its numbers bit for bit. One that is asked for damping or for nothing is passive
and keeps them too: damping only takes energy out, and must never be kept waiting.
"""

import logging
import math
from collections import Counter
from typing import Any, Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hw_bridge.intake import DQ, NUMBERS, Q
from hw_bridge.options import HardwareSafetyOptions, motor_limits, velocity_stop
from hw_bridge.wire.layout import POS_STOP, VEL_STOP
from hw_bridge.wire.low_command import (
    SENT,
    LowCommandEncoder,
    Scales,
    cut_gains,
    no_torque,
    write_motors,
)
from robots.motor_law import motor_torque
from robots.record import Record
from robots.robot import Robot
from runtime.messages import MotorCommand
from runtime.rows import layout_of

Array = NDArray[np.float64]
_FIRST: Final = SENT.start
Bounds = Any  # the element of one motor of `bounds_of`

(
    GAIN, TARGET, SLEW, RANGE, VELOCITY, TORQUE,
    MOTOR_POWER, TOTAL_POWER, MEASUREMENT, NOT_FINITE, NOT_MEASURED, CLOCK, GAP,
) = (1 << bit for bit in range(13))  # fmt: skip
REASONS = (
    "gain", "target", "slew", "range", "velocity", "torque",
    "motor_power", "total_power", "measurement", "not_finite", "not_measured", "clock", "gap",
)  # fmt: skip

ROUNDING = 1e-9  # [N m], [W]: less is no excess; the wire's torque comes in steps of 0.004
VELOCITY_RAMP = 2.0  # [rad/s] before the limit in which driving torque falls to nothing
FASTEST_MEASURED = 100.0  # [rad/s] five times what the motors reach: more is no measurement
POSITION_MARGIN = 0.05  # [rad] to the end of a joint's range, from where no torque drives it out
STOP_STIFFNESS = 120.0  # [N m/rad] by which that torque falls on the way there; spring beyond
# Brakes a joint on its way out [N m s/rad]: a light leg (0.03 kg m^2) that the full torque drives
# out from the stand ends at the margin, even if commands act 10 ms late.
STOP_DAMPING = 4.0
DAMPING_KD = 3.0  # [N m s/rad] that replaces what cannot be sent


@njit(cache=True)
def row_torque(row: Array, q: float, dq: float) -> float:
    """Torque [N m] of one motor's row q_des, dq_des, kp, kd, tau at the measured q, dq."""
    kp = 0.0 if row[0] == POS_STOP else row[2]
    kd = 0.0 if row[1] == VEL_STOP else row[3]
    return motor_torque(row[0], row[1], kp, kd, row[4], q, dq)


@njit(cache=True)
def is_passive(row: Array) -> bool:
    """Whether a motor's row asks for nothing but damping: its torque never drives the joint."""
    springless = row[0] == POS_STOP or row[2] == 0.0
    still = row[1] == VEL_STOP or row[1] == 0.0 or row[3] == 0.0
    return springless and still and row[3] >= 0.0 and row[4] == 0.0


@njit(cache=True)
def outward_cap(distance: float, speed: float, b: Bounds) -> float:
    """Largest torque [N m] outwards; negative where the joint must be braked or pulled back.

    A damped spring that stands at the margin, does not pull within it, so that folded legs may rest
    there, and pulls back from beyond the range: min(0, d) + max(0, d - margin), less the damping.

    Args:
        distance: to the end of the range, negative beyond it [rad].
        speed: outwards [rad/s].
        b: the limits.
    """
    beyond_margin = max(0.0, distance - POSITION_MARGIN)
    spring = STOP_STIFFNESS * (beyond_margin + min(0.0, distance))
    cap = spring - STOP_DAMPING * max(0.0, speed)
    return min(b.torque_limit, max(-b.torque_limit, cap))


@njit(cache=True)
def _clip(u: float, low: float, high: float) -> float:
    """`u` between low and high, untouched where it is out by no more than rounding."""
    if u > high + ROUNDING:
        return high
    return low if u < low - ROUNDING else u


@njit(cache=True)
def _within(
    u: float, reference: float, step: float, q: float, dq: float, b: Bounds
) -> tuple[float, int]:
    """Torque `u` within the limits of one motor, and which of them it met."""
    hit, before = 0, u
    u = _clip(u, reference - step, reference + step)
    hit |= SLEW if u != before else 0
    before, u = u, _clip(u, -b.torque_limit, b.torque_limit)
    hit |= TORQUE if u != before else 0
    before, u = u, _clip(u, -outward_cap(q - b.lower, -dq, b), outward_cap(b.upper - q, dq, b))
    hit |= RANGE if u != before else 0
    if u * dq > 0.0:
        share = min(1.0, max(0.0, (b.velocity_limit - abs(dq)) / VELOCITY_RAMP))
        before, u = u, _clip(u, -share * b.torque_limit, share * b.torque_limit)
        hit |= VELOCITY if u != before else 0
        most = b.motor_power / abs(dq)
        before, u = u, _clip(u, -most, most)
        hit |= MOTOR_POWER if u != before else 0
    return u, hit


@njit(cache=True)
def _share_power(u: Array, dq: Array, active: NDArray[np.bool_], total_power: float) -> bool:
    """Bring sum |u dq| of the active motors within the total, braking torque last; True if so."""
    drive, brake = 0.0, 0.0
    for i in range(12):
        if active[i]:
            drive += max(0.0, u[i] * dq[i])
            brake += max(0.0, -u[i] * dq[i])
    if drive + brake <= total_power + ROUNDING:
        return False
    brake_share = min(1.0, total_power / max(brake, ROUNDING))
    drive_share = max(0.0, total_power - brake) / max(drive, ROUNDING)
    for i in range(12):
        if active[i]:
            u[i] *= min(1.0, drive_share) if u[i] * dq[i] > 0.0 else brake_share
    return True


@njit(cache=True)
def _near(target: float, measured: float, gain: float, torque_limit: float) -> float:
    """The target, no further from the measurement than the torque limit reaches."""
    if gain * abs(target - measured) <= torque_limit + ROUNDING:
        return target
    return measured + math.copysign(torque_limit / gain, target - measured)


@njit(cache=True)
def _to_bounds(row: Array, u: float, exact: bool, q: float, dq: float, b: Bounds) -> int:
    """Bring a row's gains and targets within bounds, in place, and its law to torque `u`."""
    kp, kd = min(b.kp_max, max(0.0, row[2])), min(b.kd_max, max(0.0, row[3]))
    hit = GAIN if kp != row[2] or kd != row[3] else 0
    q_des, dq_des = row[0], row[1]
    if q_des != POS_STOP:
        q_des = _near(min(b.upper, max(b.lower, q_des)), q, kp, b.torque_limit)
    if dq_des != VEL_STOP:
        dq_des = _near(
            min(b.velocity_limit, max(-b.velocity_limit, dq_des)), dq, kd, b.torque_limit
        )
    hit |= TARGET if q_des != row[0] or dq_des != row[1] else 0
    if hit == 0 and exact:
        return 0
    row[0], row[1], row[2], row[3], row[4] = q_des, dq_des, kp, kd, 0.0
    row[4] = u - row_torque(row, q, dq)
    return hit


@njit(cache=True)
def limit(
    rows: Array, last: Array, step: float, q: Array, dq: Array, bounds: Record
) -> tuple[Array, int]:
    """Bring a command within the limits.

    Args:
        rows: (12, 5) of each motor q_des [rad], dq_des [rad/s], kp, kd, tau [N m]; finite.
        last: (12, 5) the command before.
        step: by how much a torque may have changed since [N m].
        q, dq: (12) measured joints, finite [rad], [rad/s].
        bounds: (12) see `bounds_of`.

    Returns:
        The rows (12, 5) to send and the limits that were met, ored; NOT_FINITE alone where a torque
        overflows: then the rows must not be sent.
    """
    out, u, wanted = rows.copy(), np.empty(12), np.empty(12)
    active, hits = np.ones(12, np.bool_), 0
    for i in range(12):
        b = bounds[i]
        outside = max(b.lower - q[i], q[i] - b.upper)
        believed = outside <= b.excursion_max and abs(dq[i]) <= FASTEST_MEASURED
        active[i] = not is_passive(out[i])
        if active[i] and not believed:
            out[i, :] = 0.0
            out[i, 0], out[i, 3] = POS_STOP, DAMPING_KD
            active[i], hits = False, hits | MEASUREMENT
        if not active[i]:
            # Whatever the measured speed: it may be false, and a motor bounds its own torque.
            kd = min(b.kd_max, out[i, 3])
            hits |= GAIN if kd != out[i, 3] else 0
            out[i, 3] = kd
            u[i] = row_torque(out[i], q[i], dq[i])
            continue
        row = out[i].copy()
        row[2], row[3] = max(0.0, row[2]), max(0.0, row[3])
        wanted[i] = row_torque(row, q[i], dq[i])
        if not np.isfinite(wanted[i]):
            return out, NOT_FINITE
        reference = min(b.torque_limit, max(-b.torque_limit, row_torque(last[i], q[i], dq[i])))
        u[i], hit = _within(wanted[i], reference, step, q[i], dq[i], b)
        hits |= hit
    if _share_power(u, dq, active, bounds[0].total_power):
        hits |= TOTAL_POWER
    for i in range(12):
        if active[i]:
            exact = u[i] == wanted[i]
            hits |= _to_bounds(out[i], u[i], exact, q[i], dq[i], bounds[i])
    return out, hits


TICK = 0.001  # [s] between commands; the first one after nothing may change a torque for that long
CATCH_UP_S = 0.003  # after a late tick a torque may change for no longer than this


@njit(cache=True)
def _step(now: float, before: Array, last: Array, b: Bounds) -> tuple[float, int]:
    """By how much a torque may change [N m]; CLOCK where time does not go on, GAP after a pause.

    After a gap the motors are taken to have lost their torque: the firmware brakes by itself.
    """
    if not np.isfinite(now):
        return 0.0, CLOCK
    since, before[0] = now - before[0], now
    if np.isnan(since):
        return b.torque_slew * TICK, 0
    if since < 0.0:
        return 0.0, CLOCK
    if since > b.command_age_max_s:
        last[:] = 0.0
        last[:, 0], last[:, 1] = POS_STOP, VEL_STOP
        return b.torque_slew * TICK, GAP
    return b.torque_slew * min(since, CATCH_UP_S), 0


@njit(cache=True)
def _sendable(
    rows: Array, last: Array, step: float, q: Array, dq: Array, is_known: bool, bounds: Record
) -> tuple[Array, int]:
    """The rows (12, 5) to send in place of any, and the limits that were met.

    What cannot be sent is damped: NOT_FINITE, or NOT_MEASURED where the joints are not known and
    the rows could drive one.
    """
    b, fault = bounds[0], 0
    for i in range(12):
        for j in range(5):
            fault |= 0 if np.isfinite(rows[i, j]) else NOT_FINITE
        is_known &= np.isfinite(q[i]) and np.isfinite(dq[i])
    if fault == 0 and not is_known:
        for i in range(12):
            if not (is_passive(rows[i]) and rows[i, 3] <= b.kd_max):
                fault = NOT_MEASURED
        if fault == 0:
            return rows, 0
    if fault == 0:
        out, hits = limit(rows, last, step, q, dq, bounds)
        if hits & NOT_FINITE == 0:
            return out, hits
        fault = NOT_FINITE
    rows = np.zeros((12, 5))
    rows[:, 0], rows[:, 3] = POS_STOP, min(b.kd_max, DAMPING_KD) if is_known else DAMPING_KD
    return rows, fault


@njit(cache=True)
def act(
    command: Array, numbers: Array, is_known: bool, now: float, before: Array, last: Array,
    bounds: Record, places: NDArray[np.int64], scales: Scales, frame: NDArray[np.uint8],
    sent: Array,
) -> tuple[int, int]:  # fmt: skip
    """Write what may be sent in place of a command into a frame.

    Args:
        command: row of `MotorCommand`, whatever it holds.
        numbers: (75) of the newest sample, see `take_in`.
        is_known: whether it is new enough for its joints to count.
        now: time of this command [s] on the monotonic clock.
        before: (1) that of the one before, NaN: there was none.
        last: (12, 5) that command as it was sent; becomes this one.
        bounds: (12) see `bounds_of`.
        places, scales: `Wire.motors_at` and `Wire.scales`.
        frame: of LowCmd, header and modes in place.
        sent: becomes the row of the command as it is in the frame. A loop that is switched off
            (PosStopF, VelStopF) shows the measured joint as its target: the same torque, and a
            curve that can be drawn.

    Returns:
        The limits that were met, ored, and how many numbers the frame could not carry. A fault
        makes it damping: NOT_FINITE, of a command or what comes of it, NOT_MEASURED, joints missing
        or not finite; MEASUREMENT, a joint that cannot be where it reads, that of one motor. CLOCK
        (time went back, or is no number) lets no torque change.
    """
    q, dq = numbers[Q], numbers[DQ]
    rows = np.empty((12, 5))
    for j in range(5):
        rows[:, j] = command[_FIRST + 12 * j : _FIRST + 12 * (j + 1)]
    cut_gains(scales, rows, q, dq)
    step, bits = _step(now, before, last, bounds[0])
    rows, hits = _sendable(rows, last, step, q, dq, is_known, bounds)
    bits = hits | (bits & GAP if hits & (NOT_FINITE | NOT_MEASURED) else bits)
    last[:] = rows
    saturated = write_motors(rows, places, scales, frame)
    sent[:] = command
    for i in range(12):
        at, row = _FIRST + i, rows[i]
        q_off, dq_off = row[0] >= POS_STOP, row[1] >= VEL_STOP
        sent[at], sent[at + 12] = q[i] if q_off else row[0], dq[i] if dq_off else row[1]
        sent[at + 24] = row[2] * (0.0 if q_off else 1.0)
        sent[at + 36] = row[3] * (0.0 if dq_off else 1.0)
        sent[at + 48] = row[4]
    return bits, saturated


LOG = logging.getLogger(__name__)
_FAULTS = NOT_FINITE | NOT_MEASURED | MEASUREMENT | CLOCK  # logged once


def bounds_of(options: HardwareSafetyOptions, robot: Robot) -> Record:
    """The options for each motor (12), and the range of its joint, `lower` and `upper` [rad].

    Raises:
        ValueError: an option allows more than the robot bears, see `motor_limits`.
    """
    torque, velocity = motor_limits(options, robot)
    values = {name: getattr(options, name) for name in options.__struct_fields__} | {
        "lower": robot.legs.lower, "upper": robot.legs.upper, "torque_limit": torque,
        "velocity_limit": velocity, "velocity_stop": velocity_stop(options, robot),
    }  # fmt: skip
    kind: Any = [(name, np.float64) for name in values]
    bounds = np.empty(12, np.dtype((np.record, kind)))
    for name, value in values.items():
        bounds[name] = value
    return bounds


class Limiter:
    """Keeps every command within the limits, and writes it into a frame. Deterministic.

    Attributes:
        counts: commands by the limit or fault that they met, ``gap`` for those after a pause.
        last: rows (12, 5) of the command before, as it was sent.
    """

    def __init__(
        self, options: HardwareSafetyOptions, robot: Robot, encoder: LowCommandEncoder
    ) -> None:
        """Compile what is compiled (seconds, once per machine); the motors have no torque.

        Raises:
            ValueError: an option allows more than the robot bears, see `motor_limits`.
        """
        self._bounds, self._encoder = bounds_of(options, robot), encoder
        self.counts: Counter[str] = Counter()
        self.last, self._before = no_torque().rows, np.full(1, np.nan)
        command = np.zeros(layout_of(MotorCommand).width)
        self.apply(command, np.zeros(NUMBERS), False, 0.0)  # passive: counts nothing
        self.last, self._before[0] = no_torque().rows, np.nan
        # pyrefly: ignore[missing-attribute]
        act.disable_compile()  # a control loop has no time to wait for a compiler

    def apply(
        self, command: Array, numbers: Array, is_known: bool, now: float
    ) -> tuple[int, Array]:
        """Write what may be sent in place of a command's row into the encoder's frame, see `act`.

        Returns:
            The limits that were met, and the row of the command as it is in the frame.
        """
        encoder, sent = self._encoder, np.empty(len(command))
        wire = encoder.wire
        bits, saturated = act(
            command, numbers, is_known, now, self._before, self.last, self._bounds,
            wire.motors_at, wire.scales, encoder.bytes, sent,
        )  # fmt: skip
        encoder.saturated += saturated
        if bits:
            self._count(bits)
        return bits, sent

    def _count(self, bits: int) -> None:
        """Count what was met; the first fault of each kind is a line in the log."""
        for bit, name in enumerate(REASONS):
            if not bits >> bit & 1:
                continue
            self.counts[name] += 1
            if self.counts[name] == 1 and _FAULTS >> bit & 1:
                LOG.error("limiter: a command is faulty (%s); damping takes its place", name)
