"""What twelve motor drivers make of the wire's setpoints: the law's rows for the plant."""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hw_bridge.wire.layout import POS_STOP, SERVO, VEL_STOP
from robots.motor_law import motor_torque

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


@njit(cache=True)
def motor_rows(
    mode: NDArray[np.int64], q: Array, dq: Array, kp: Array, kd: Array, tau: Array,
    shut_down: Flags, stuck: Flags, stuck_at: Array, brake_all: bool, brake_kd: float, out: Array,
) -> int:  # fmt: skip
    """Write the rows q, dq, kp, kd, tau (5, 12) of the law that the motors now follow.

    A motor that is shut down gives no torque. One in any mode but servo brakes; so does one with a
    number that is not finite, because what the robot makes of that is not published. PosStopF
    switches off the position loop, VelStopF the velocity loop. A motor's own loop reads its own
    encoder: where that is stuck, its feedback has become a constant.

    Args:
        mode: (12) or more, of the motors.
        q, dq, kp, kd, tau: (12) setpoints from the wire.
        shut_down, stuck: (12) of the motors.
        stuck_at: (12) the angle that a stuck encoder shows [rad].
        brake_all: whether the robot brakes all motors, whatever they were told.
        brake_kd: damping of a braking motor [N m s/rad].
        out: (5, 12), overwritten.

    Returns:
        How many motors had a number that is not finite.
    """
    not_finite = 0
    for i in range(12):
        out[:, i] = 0.0
        finite = math.isfinite(q[i] + dq[i] + kp[i] + kd[i] + tau[i])
        not_finite += not finite
        if shut_down[i]:
            continue
        if brake_all or mode[i] != SERVO or not finite:
            out[3, i] = brake_kd
            continue
        out[4, i] = tau[i]
        if q[i] != POS_STOP:
            out[0, i], out[2, i] = q[i], kp[i]
        if dq[i] != VEL_STOP:
            out[1, i], out[3, i] = dq[i], kd[i]
        if stuck[i]:
            out[4, i] += out[2, i] * (out[0, i] - stuck_at[i]) + out[3, i] * out[1, i]
            out[2, i] = out[3, i] = 0.0
    return not_finite


@njit(cache=True)
def asks_for_motion(rows: Array) -> bool:
    """Whether rows (5, 12) ask any motor for a position or a torque; damping does not."""
    for i in range(12):
        if rows[2, i] != 0.0 or rows[4, i] != 0.0:
            return True
        if rows[3, i] != 0.0 and rows[1, i] != 0.0:
            return True
    return False


@njit(cache=True)
def largest_torque(rows: Array, q: Array, dq: Array) -> float:
    """The largest torque [N m] that rows (5, 12) ask of a motor at joints q, dq (12).

    Motors that are only damped do not count: their own drivers bound what takes energy out.
    """
    largest = 0.0
    for i in range(12):
        if rows[2, i] == 0.0 and rows[4, i] == 0.0 and rows[1, i] == 0.0:
            continue
        torque = motor_torque(
            rows[0, i], rows[1, i], rows[2, i], rows[3, i], rows[4, i], q[i], dq[i]
        )
        largest = max(largest, abs(torque))
    return largest
