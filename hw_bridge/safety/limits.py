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
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hw_bridge.options import HardwareSafetyOptions, motor_limits
from hw_bridge.setpoints import Setpoints, damping, no_torque
from hw_bridge.wire.layout import BRAKE, POS_STOP, SERVO, VEL_STOP
from robots.motor_law import motor_torque
from robots.robot import Robot

Array = NDArray[np.float64]

GAIN, TARGET, SLEW, RANGE, VELOCITY, TORQUE = 1, 2, 4, 8, 16, 32
MOTOR_POWER, TOTAL_POWER, MEASUREMENT, NOT_FINITE = 64, 128, 256, 512
REASONS = (
    "gain", "target", "slew", "range", "velocity", "torque",
    "motor_power", "total_power", "measurement", "not_finite",
)  # fmt: skip

ROUNDING = 1e-9  # [N m], [W]: less is no excess; the wire's torque comes in steps of 0.004
VELOCITY_RAMP = 2.0  # [rad/s] before the limit in which driving torque falls to nothing
FASTEST_MEASURED = 100.0  # [rad/s] five times what the motors reach: more is no measurement


class MotorBounds(NamedTuple):
    """The limits of one motor, named as in HardwareSafetyOptions; a row of what `limit` takes."""

    lower: float  # range of the joint [rad]
    upper: float
    torque_limit: float
    velocity_limit: float
    position_margin: float
    stop_stiffness: float
    stop_damping: float
    motor_power: float
    total_power: float
    kp_max: float
    kd_max: float
    damping_kd: float
    excursion_max: float


TOTAL = MotorBounds._fields.index("total_power")  # column of `limit`'s bounds


@njit(cache=True)
def _bounds_of(b: Array) -> MotorBounds:
    return MotorBounds(
        b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12]
    )


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
def outward_cap(distance: float, speed: float, b: MotorBounds) -> float:
    """Largest torque [N m] outwards; negative where the joint must be braked or pulled back.

    A damped spring that stands at the margin, does not pull within it, so that folded legs may rest
    there, and pulls back from beyond the range: min(0, d) + max(0, d - margin), less the damping.

    Args:
        distance: to the end of the range, negative beyond it [rad].
        speed: outwards [rad/s].
        b: the limits.
    """
    beyond_margin = max(0.0, distance - b.position_margin)
    spring = b.stop_stiffness * (beyond_margin + min(0.0, distance))
    cap = spring - b.stop_damping * max(0.0, speed)
    return min(b.torque_limit, max(-b.torque_limit, cap))


@njit(cache=True)
def _clip(u: float, low: float, high: float) -> float:
    """`u` between low and high, untouched where it is out by no more than rounding."""
    if u > high + ROUNDING:
        return high
    return low if u < low - ROUNDING else u


@njit(cache=True)
def _within(
    u: float, reference: float, step: float, q: float, dq: float, b: MotorBounds
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
def _to_bounds(row: Array, u: float, exact: bool, q: float, dq: float, b: MotorBounds) -> int:
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
def _bound_damping(row: Array, b: MotorBounds) -> int:
    """Keep the damping of a passive row within the gain's bound, in place.

    Whatever the measured speed: it may be old or false, and a motor bounds its own torque.
    """
    kd = min(b.kd_max, row[3])
    hit = GAIN if kd != row[3] else 0
    row[3] = kd
    return hit


@njit(cache=True)
def gather(
    q: Array, dq: Array, kp: Array, kd: Array, tau: Array, joints: Array, speeds: Array, rows: Array
) -> tuple[bool, bool]:
    """Write the rows (12, 5) of `limit`; whether they are finite, and the measured joints."""
    command, measured = True, True
    for i in range(12):
        for j, value in enumerate((q[i], dq[i], kp[i], kd[i], tau[i])):
            rows[i, j] = value
            command &= np.isfinite(value)
        measured &= np.isfinite(joints[i]) and np.isfinite(speeds[i])
    return command, measured


@njit(cache=True)
def limit(
    rows: Array, last: Array, step: float, q: Array, dq: Array, bounds: Array
) -> tuple[Array, Array, int]:
    """Bring a command within the limits.

    Args:
        rows: (12, 5) of each motor q_des [rad], dq_des [rad/s], kp, kd, tau [N m]; finite.
        last: (12, 5) the command before.
        step: by how much a torque may have changed since [N m].
        q, dq: (12) measured joints, finite [rad], [rad/s].
        bounds: (12, 13) `MotorBounds` of each motor.

    Returns:
        The rows (12, 5) to send, their torque (12) [N m] at q, dq, and the limits that were met,
        ored; NOT_FINITE alone where a torque overflows: then the rows must not be sent.
    """
    out, u, wanted = rows.copy(), np.empty(12), np.empty(12)
    active, hits = np.ones(12, np.bool_), 0
    for i in range(12):
        b = _bounds_of(bounds[i])
        outside = max(b.lower - q[i], q[i] - b.upper)
        believed = outside <= b.excursion_max and abs(dq[i]) <= FASTEST_MEASURED
        active[i] = not is_passive(out[i])
        if active[i] and not believed:
            out[i, :] = 0.0
            out[i, 0], out[i, 3] = POS_STOP, b.damping_kd
            active[i], hits = False, hits | MEASUREMENT
        if not active[i]:
            hits |= _bound_damping(out[i], b)
            u[i] = row_torque(out[i], q[i], dq[i])
            continue
        row = out[i].copy()
        row[2], row[3] = max(0.0, row[2]), max(0.0, row[3])
        wanted[i] = row_torque(row, q[i], dq[i])
        if not np.isfinite(wanted[i]):
            return out, u, NOT_FINITE
        reference = min(b.torque_limit, max(-b.torque_limit, row_torque(last[i], q[i], dq[i])))
        u[i], hit = _within(wanted[i], reference, step, q[i], dq[i], b)
        hits |= hit
    if _share_power(u, dq, active, bounds[0, TOTAL]):
        hits |= TOTAL_POWER
    for i in range(12):
        if active[i]:
            exact = u[i] == wanted[i]
            hits |= _to_bounds(out[i], u[i], exact, q[i], dq[i], _bounds_of(bounds[i]))
    return out, u, hits


LOG = logging.getLogger(__name__)
TICK = 0.001  # [s] between commands; the first one after nothing may change a torque for that long
CATCH_UP_S = 0.003  # after a late tick a torque may change for no longer than this
_FAULTS = ("not_finite", "not_measured", "measurement", "mode", "malformed", "clock")  # logged once
_NO_TORQUE = np.stack(no_torque()[:5], axis=1)
_NO_JOINTS = np.full(12, np.nan), np.full(12, np.nan)


def bounds_of(options: HardwareSafetyOptions, robot: Robot) -> Array:
    """`MotorBounds` of each motor (12, 13).

    Raises:
        ValueError: an option allows more than the robot bears, see `motor_limits`.
    """
    torque, velocity = motor_limits(options, robot)
    own = {
        "lower": robot.legs.lower, "upper": robot.legs.upper, "torque_limit": torque,
        "velocity_limit": velocity,
    }  # fmt: skip
    bounds = np.empty((12, len(MotorBounds._fields)))
    for i, name in enumerate(MotorBounds._fields):
        bounds[:, i] = own[name] if name in own else getattr(options, name)
    return bounds


class Limited(NamedTuple):
    """A command that may be sent.

    Attributes:
        setpoints: to send; the very ones that came in where nothing was limited.
        torque: (12) expected of the motors' law at the sampling instant [N m].
        limited: the limits that were met, of `REASONS`, or a fault: ``not_finite`` (a
            command, or what comes of it), ``not_measured`` (joints missing or not finite),
            ``measurement`` (a joint that cannot be where it reads), ``mode``, ``malformed``. A
            fault makes it damping, ``measurement`` that of one motor. ``clock`` (it went back,
            or is no number) lets no torque change.
    """

    setpoints: Setpoints
    torque: Array
    limited: tuple[str, ...]


class Limiter:
    """Keeps every command within the limits. Deterministic; raises nothing.

    Attributes:
        options: the limits.
        bounds: (12, 13) see `bounds_of`.
        counts: commands by the limit that they met, ``gap`` for those after a pause too.
        last: rows (12, 5) of the command before.
    """

    def __init__(self, options: HardwareSafetyOptions, robot: Robot) -> None:
        """Compile what is compiled (seconds, once per machine); the motors have no torque.

        Raises:
            ValueError: an option allows more than the robot bears, see `motor_limits`.
        """
        self.options, self.bounds = options, bounds_of(options, robot)
        self.counts: Counter[str] = Counter()
        self.reset()
        still = 0.5 * (robot.legs.lower + robot.legs.upper)
        limit(_NO_TORQUE, _NO_TORQUE, 0.0, still, np.zeros(12), self.bounds)
        is_passive(_NO_TORQUE[0])
        gather(*no_torque()[:5], *_NO_JOINTS, np.empty((12, 5)))

    def reset(self) -> None:
        """Forget the command before: torque begins at nothing again. Counts stay."""
        self.last, self._time = _NO_TORQUE, None

    def apply(self, setpoints: Setpoints, q: Array | None, dq: Array | None, now: float) -> Limited:
        """Return what may be sent in place of `setpoints`.

        Args:
            setpoints: wanted, whatever they hold.
            q, dq: (12) joints measured last [rad], [rad/s]; None where there are none.
            now: time of this command [s] on the monotonic clock.
        """
        try:
            limited = self._apply(setpoints, q, dq, now)
        except Exception as error:  # a wrong shape or type: a fault of the program, not of a value
            LOG.debug("limiter: %s", error)
            limited = self._damp("malformed", None)
        for reason in limited.limited:
            self.counts[reason] += 1
            if reason in _FAULTS and self.counts[reason] == 1:
                LOG.error("limiter: a command is faulty (%s); damping takes its place", reason)
        return limited

    def _apply(
        self, setpoints: Setpoints, q: Array | None, dq: Array | None, now: float
    ) -> Limited:
        step, clock = self._step(now)
        rows, joints = np.empty((12, 5)), _joints(q, dq)
        q_des, dq_des, kp, kd, tau = map(_twelve, setpoints[:5])
        angles, speeds = joints or _NO_JOINTS
        finite, measured = gather(q_des, dq_des, kp, kd, tau, angles, speeds, rows)
        joints = joints if measured else None
        if setpoints.mode not in (SERVO, BRAKE):  # 4 is a calibration
            return self._damp("mode", joints)
        if not finite:
            return self._damp("not_finite", joints)
        if joints is None:
            return self._unmeasured(setpoints, rows)
        sent, torque, hits = limit(rows, self.last, step, *joints, self.bounds)
        if hits & NOT_FINITE:
            return self._damp("not_finite", joints)
        self.last = sent
        names = tuple(name for bit, name in enumerate(REASONS) if hits >> bit & 1) if hits else ()
        if hits:
            setpoints = _setpoints(sent, setpoints.mode)
        return Limited(setpoints, torque, names + clock)

    def allowance(self, now: float) -> float | None:
        """By how much a torque may change now [N m]; None where that is for `apply` to say."""
        before = self._time
        if before is None or not 0.0 <= now - before <= self.options.command_age_max_s:
            return None
        return self.options.torque_slew * min(now - before, CATCH_UP_S)

    def accept(self, rows: Array, now: float) -> None:
        """Take rows (12, 5) of `now` [s], which met no limit, as the command before the next."""
        self.last, self._time = rows, now

    def _step(self, now: float) -> tuple[float, tuple[str, ...]]:
        """By how much a torque may change [N m], and ("clock",) where time does not go on.

        After a gap the motors are taken to have lost their torque: the firmware brakes by itself.
        """
        if not math.isfinite(now):
            return 0.0, ("clock",)
        before, self._time = self._time, now
        if before is None:
            return self.options.torque_slew * TICK, ()
        if now < before:
            return 0.0, ("clock",)
        since = now - before
        if since > self.options.command_age_max_s:
            self.counts["gap"] += 1
            self.last, since = _NO_TORQUE, TICK
        return self.options.torque_slew * min(since, CATCH_UP_S), ()

    def _unmeasured(self, setpoints: Setpoints, rows: Array) -> Limited:
        """Without joints only what can drive none of them is sent as it is."""
        calm = all(is_passive(row) and row[3] <= self.options.kd_max for row in rows)
        if not calm:
            return self._damp("not_measured", None)
        self.last = rows
        return Limited(setpoints, np.zeros(12), ())

    def _damp(self, reason: str, joints: tuple[Array, Array] | None) -> Limited:
        """Damping, in place of what cannot be sent."""
        rows, torque = np.stack(damping(self.options.damping_kd)[:5], axis=1), np.zeros(12)
        if joints is not None:
            rows, torque, _ = limit(rows, rows, 0.0, *joints, self.bounds)
        self.last = rows
        return Limited(_setpoints(rows, SERVO), torque, (reason,))


def _setpoints(rows: Array, mode: int) -> Setpoints:
    """The rows (12, 5) as setpoints of their own."""
    q, dq, kp, kd, tau = rows.T.copy()
    return Setpoints(q, dq, kp, kd, tau, mode)


def _twelve(values: Array) -> Array:
    """The numbers as compiled code takes them.

    Raises:
        ValueError: they are not twelve.
    """
    values = np.ascontiguousarray(values, np.float64)
    if values.shape != (12,):
        raise ValueError(f"expected twelve numbers, got shape {values.shape}")
    return values


def _joints(q: Array | None, dq: Array | None) -> tuple[Array, Array] | None:
    """The measured joints as (12) arrays, None unless all are there."""
    if q is None or dq is None:
        return None
    try:
        return _twelve(q), _twelve(dq)
    except ValueError:
        return None
