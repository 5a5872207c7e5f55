"""One compiled call for a tick in which all is well: judge, policy, limits.

Where a bit of `UNUSUAL` is set, the tracker goes its way step by step, which names the cause and
decides what to do: `SafetyGate`, `policy_kernel` and `motor_targets` say the same, and count it.
"""

import math
from typing import Final

import numpy as np
from numba import njit

from controller.contradiction import contradiction
from controller.motor_targets import bounded_targets
from controller.policy_kernel import Array, evaluate
from runtime.messages import MotorCommand, SensorReading, StateEstimate
from runtime.rows import layout_of

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
