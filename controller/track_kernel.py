"""The tracker's compiled checks, and one compiled call for a tick in which all is well.

`contradiction` compares an estimate with the reading that it was made from. In simulated walks,
pushes of 3 m/s, jumps and flips the two differ by 0.005 rad and 0.04 rad/s at most. Where that
reading is missing, a newer one takes its place, before which joints and trunk have moved on: the
bounds grow with the time between. Estimates 0 to 20 ms older than the reading used half of them at
most.

`track` judges, evaluates the policy and limits. Where a bit of `UNUSUAL` is set, the tracker
repeats the tick step by step, which names the cause and decides what to do: `SafetyGate`,
`plan_function` and `motor_targets` do the same, and count it.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from controller.motor_targets import bounded_targets
from controller.options import PlanBoundsOptions
from controller.plan_function import evaluate, unpack
from robots.robot import Robot
from runtime.messages import MotorCommand, SensorReading, StateEstimate
from runtime.rows import layout_of

Array = NDArray[np.float64]

TOO_FAST, OFF_ENCODERS, OFF_GYROSCOPE = 1, 2, 3
TURN_CHANGE = 500.0  # [rad/s^2] by which the trunk's turn may change; a flip's landing has half
STATES, INPUTS, GAINS = 1, 2, 3
NOT_PLAUSIBLE, NOT_FINITE, FALLEN, OVERFLOW = 1, 2, 4, 8
TORQUE_LIMITED, POSITION_LIMITED, CONTRADICTED = 16, 32, 64
UNUSUAL: Final = NOT_PLAUSIBLE | NOT_FINITE | FALLEN | OVERFLOW | CONTRADICTED
_READING, _COMMAND = layout_of(SensorReading).spans, layout_of(MotorCommand).spans
_ESTIMATE = layout_of(StateEstimate).spans
TIME: Final = 1  # of each row
Q, V = _ESTIMATE["q"], _ESTIMATE["v"]
IMU, GYROSCOPE = _READING["quaternion_imu_in_world"], _READING["angular_velocity_imu"]
READ_Q, READ_DQ = _READING["joint_position"], _READING["joint_velocity"]
SENT_Q, SENT_DQ, SENT_KP, SENT_KD, SENT_TAU = (
    _COMMAND[name] for name in ("q", "dq", "kp", "kd", "tau")
)
assert all(spans["time"].start == TIME for spans in (_READING, _COMMAND, _ESTIMATE))
FASTEST_MEASURED = 200.0  # [rad/s] ten times what the motors reach: more is no measurement
LEAST_SQUARE, MOST_SQUARE = 0.98, 1.02  # of a quaternion's length, between which it is believed


@njit(cache=True)
def contradiction(
    v: Array, estimated_joints: Array, joints: Array, gyroscope: Array, age: float,
    bounds: tuple[float, ...], fastest: Array,
) -> int:  # fmt: skip
    """Return what of an estimate cannot be, 0 where nothing.

    Args:
        v: (18) of the estimate, finite.
        estimated_joints: (12) [rad].
        joints, gyroscope: as measured (12) [rad], (3) [rad/s]; what is NaN contradicts nothing.
        age: from the estimate to the measurement [s].
        bounds: estimate_joint_error, estimate_turn_error and estimate_speed_max, see
            `SafetyGateOptions`.
        fastest: speeds of the joints (12) [rad/s].
    """
    joint_error, turn_error, speed_max = bounds
    age = abs(age)
    speed = turn = 0.0
    for i in range(3):
        speed += v[i] ** 2
        turn += (v[3 + i] - gyroscope[i]) ** 2
    if speed > speed_max**2:
        return TOO_FAST
    for i in range(12):
        if abs(estimated_joints[i] - joints[i]) > joint_error + fastest[i] * age:
            return OFF_ENCODERS
    return OFF_GYROSCOPE if turn > (turn_error + TURN_CHANGE * age) ** 2 else 0


class PlanBounds(NamedTuple):
    """The bounds of `excess`, see `PlanBoundsOptions`; arrays are of the joints (12)."""

    lower: Array  # [rad]
    upper: Array  # [rad]
    joint_margin: float
    height: float
    speed: float
    turn: float
    joint_speed: float
    torque: Array
    gain: float


def bounds_of(options: PlanBoundsOptions, robot: Robot) -> PlanBounds:
    """The bounds of a robot's plans."""
    o, legs, most = options, robot.legs, options.torque_max
    return PlanBounds(
        np.array(legs.lower), np.array(legs.upper), float(o.joint_margin), float(o.height_max),
        float(o.speed_max), float(o.turn_max), float(o.joint_speed_max),
        3.0 * robot.torque_limit if most is None else np.full(12, float(most)), float(o.gain_max),
    )  # fmt: skip


@njit(cache=True)
def _exceeds(values: Array, most: Array) -> bool:
    """Whether the size of one of the values (N, 12) is more than its column's `most` (12)."""
    found = False
    for k in range(len(values)):
        for i in range(12):
            found |= abs(values[k, i]) > most[i]
    return found


@njit(cache=True)
def excess(slot: Array, level: float, bounds: PlanBounds) -> int:
    """Return which numbers of a plan are out of bounds, STATES, INPUTS or GAINS; 0 where none.

    Args:
        slot: see `plan_function.unpack`; finite.
        level: of the ground in the world [m].
        bounds: of `bounds_of`.
    """
    speed_max, turn_max, joint_speed_max = bounds.speed, bounds.turn, bounds.joint_speed
    plan = unpack(slot)
    for k in range(plan.qs.shape[0]):
        q, v = plan.qs[k], plan.vs[k]
        bounded = abs(q[2] - level) <= bounds.height
        for i in range(3):
            bounded &= abs(v[i]) <= speed_max and abs(v[3 + i]) <= turn_max
        for i in range(12):
            outside = max(bounds.lower[i] - q[7 + i], q[7 + i] - bounds.upper[i])
            bounded &= outside <= bounds.joint_margin and abs(v[6 + i]) <= joint_speed_max
        if not bounded:
            return STATES
    if _exceeds(plan.inputs, bounds.torque):
        return INPUTS
    gains = plan.gains.reshape((-1, 12))
    return GAINS if _exceeds(gains, np.full(12, bounds.gain)) else 0


@njit(cache=True)
def is_plausible(q: Array, v: Array, lower: Array, upper: Array) -> bool:
    """Return whether joints (12) [rad], [rad/s] can be where they read."""
    for i in range(12):
        if not (lower[i] <= q[i] <= upper[i] and abs(v[i]) < FASTEST_MEASURED):  # NaN fails too
            return False
    return True


@njit(cache=True)
def is_unit(quaternion: Array) -> bool:
    """Return whether a quaternion (4) is of unit length, but for rounding."""
    square = 0.0
    for i in range(4):
        square += quaternion[i] ** 2
    return LEAST_SQUARE < square < MOST_SQUARE


@njit(cache=True)
def tilt(quaternion: Array) -> float:
    """Return the angle between the trunk's z axis and the vertical [rad]; quaternion x, y, z, w."""
    x, y = quaternion[0], quaternion[1]
    return math.acos(min(1.0, max(-1.0, 1.0 - 2.0 * (x * x + y * y))))


@njit(cache=True)
def track(
    current: Array, previous: Array, estimate: Array, reading: Array, source: Array, due: float,
    ranges: Array, bounds: Array, command: Array, torque: Array,
) -> int:  # fmt: skip
    """Follow a plan; return bits of what is unusual or was limited.

    Args:
        current, previous: the plans, see `plan_function.unpack`.
        estimate, reading, source: rows of `StateEstimate`, of the newest `SensorReading` and of the
            one that the estimate was made from.
        due: when the command takes effect [s].
        ranges: (6, 12) between which a joint's measurement is believed [rad], and `MotorLimits`.
        bounds: tilt_max, height_min in the world, kp_max, kd_max, and those of `contradiction`.
        command: row of `MotorCommand`, in which q, dq, kp, kd and tau are written.
        torque: (12) becomes the torque that is expected of it [N m].
    """
    joints, joint_speeds = reading[READ_Q], reading[READ_DQ]
    if not is_plausible(joints, joint_speeds, ranges[0], ranges[1]):
        return NOT_PLAUSIBLE
    q, v, imu = estimate[Q], estimate[V], reading[IMU]
    finite = is_unit(q[3:7])
    for i in range(19):
        finite &= np.isfinite(q[i])
    for i in range(18):
        finite &= np.isfinite(v[i])
    if not finite:
        return NOT_FINITE
    if tilt(imu if is_unit(imu) else q[3:7]) > bounds[0] or q[2] < bounds[1]:
        return FALLEN
    age = source[TIME] - estimate[TIME]
    limits = bounds[4], bounds[5], bounds[6]
    if contradiction(v, q[7:], source[READ_Q], source[GYROSCOPE], age, limits, ranges[5]):
        return CONTRADICTED
    finite, wanted, q_aim, dq_aim, kp, kd, joints_due, speeds_due = evaluate(
        current, previous, q, v, estimate[TIME], joints, joint_speeds, reading[TIME], due,
        bounds[2], bounds[3],
    )  # fmt: skip
    if not finite:
        return OVERFLOW
    q_des, dq_des, tau, expected, torque_limited, position_limited = bounded_targets(
        wanted, q_aim, dq_aim, kp, kd, joints_due, speeds_due, ranges[2], ranges[3],
        ranges[4], ranges[5],
    )  # fmt: skip
    command[SENT_Q], command[SENT_DQ], command[SENT_TAU] = q_des, dq_des, tau
    command[SENT_KP], command[SENT_KD], torque[:] = kp, kd, expected
    bits = TORQUE_LIMITED if torque_limited else 0
    return bits | (POSITION_LIMITED if position_limited else 0)
