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

NOT_PLAUSIBLE, NOT_FINITE, FALLEN, OVERFLOW = 1, 2, 4, 8
TORQUE_LIMITED, POSITION_LIMITED, CONTRADICTED = 16, 32, 64
UNUSUAL: Final = NOT_PLAUSIBLE | NOT_FINITE | FALLEN | OVERFLOW | CONTRADICTED

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
    current: Array, previous: Array, q: Array, v: Array, estimated_at: float,
    joints: Array, joint_speeds: Array, measured_at: float, imu: Array,
    source_joints: Array, gyroscope: Array, sensed_at: float, due: float,
    measured: Array, limits: Array, bounds: tuple[float, ...],
) -> tuple[int, Array, Array]:  # fmt: skip
    """Follow a plan.

    Args:
        current, previous: the plans, see `plan_function.unpack`.
        q, v: the estimate (19), (18), of time `estimated_at` [s].
        joints, joint_speeds, imu: as measured (12), (12) [rad], [rad/s], at `measured_at` [s], and
            the quaternion (4) of the IMU.
        source_joints, gyroscope: (12) [rad], (3) [rad/s] of the reading that the estimate was made
            from, of `sensed_at` [s].
        due: when the command takes effect [s].
        measured: (2, 12) range within which a joint's measurement is believed [rad].
        limits: (2, 12) range of position targets [rad].
        bounds: tilt_max, height_min in the world, kp_max, kd_max, torque_limit, velocity_limit,
            and those of `contradiction`.

    Returns:
        Bits of what is unusual or was limited; the command's q, dq, kp, kd, tau (5, 12); the torque
        (12) [N m] that is expected of it.
    """
    tilt_max, height_min, kp_max, kd_max, torque_limit, velocity_limit = bounds[:6]
    rows, torque = np.empty((5, 12)), np.empty(12)
    if not is_plausible(joints, joint_speeds, measured[0], measured[1]):
        return NOT_PLAUSIBLE, rows, torque
    finite = is_unit(q[3:7])
    for i in range(19):
        finite &= np.isfinite(q[i])
    for i in range(18):
        finite &= np.isfinite(v[i])
    if not finite:
        return NOT_FINITE, rows, torque
    if tilt(imu if is_unit(imu) else q[3:7]) > tilt_max or q[2] < height_min:
        return FALLEN, rows, torque
    if contradiction(v, q[7:], source_joints, gyroscope, sensed_at - estimated_at, bounds[6:]):
        return CONTRADICTED, rows, torque
    finite, wanted, q_aim, dq_aim, kp, kd, joints_due, speeds_due = evaluate(
        current, previous, q, v, estimated_at, joints, joint_speeds, measured_at, due,
        kp_max, kd_max,
    )  # fmt: skip
    if not finite:
        return OVERFLOW, rows, torque
    rows[0], rows[1], rows[4], torque, torque_limited, position_limited = bounded_targets(
        wanted, q_aim, dq_aim, kp, kd, joints_due, speeds_due, limits[0], limits[1],
        torque_limit, velocity_limit,
    )  # fmt: skip
    rows[2], rows[3] = kp, kd
    bits = TORQUE_LIMITED if torque_limited else 0
    return bits | (POSITION_LIMITED if position_limited else 0), rows, torque
