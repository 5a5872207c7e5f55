"""The limits on one command, compiled: from five numbers a motor to five numbers a motor.

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

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hw_bridge.wire.layout import POS_STOP, VEL_STOP
from robots.motor_law import motor_torque

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
