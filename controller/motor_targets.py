"""Setpoints of a motor, and the five numbers of its driver that follow from them.

The driver computes torque = tau + kp (q_des - q) + kd (dq_des - dq), see `robots.motor_law`. A
feedback torque u known only at 1 kHz is sent so that the driver's law gives exactly u
at the instant of sampling and the joint feedback goes on acting between samples:

    tau = u - kp (q_des - q) - kd (dq_des - dq)

Between samples the driver thus opposes only the motion since the sample. That part is stable for
kd < 2 I / T of *its* period T; with the smallest joint inertia (rotor alone, I = 0.01 kg m^2) at
10 kHz that is kd < 200. What remains in tau is feedback sampled at 1 kHz with about one sample of
delay: there kd < I / T = 10 is the limit, and the default kd_max = 5 keeps half of it, even when a
simulated motor runs at 1 kHz too. kp T must stay well below kd (100 x 0.001 = 0.1).
"""

import numpy as np
from numba import njit

from robots.robot import Robot
from robots.rotations import Array
from runtime.messages import MotorCommand
from runtime.rows import layout_of

_SPANS = layout_of(MotorCommand).spans
SENT_Q, SENT_DQ, SENT_KP, SENT_KD, SENT_TAU = (
    _SPANS[name] for name in ("q", "dq", "kp", "kd", "tau")
)
TORQUE_LIMITED, POSITION_LIMITED = 1 << 9, 1 << 10  # beside the bits of `track`


@njit(cache=True)
def split_gain(gain: Array, kp_max: float, kd_max: float) -> tuple[Array, Array]:
    """Return the joint PD part (kp, kd) of a feedback gain, clipped to what a motor can run.

    Args:
        gain: (12, 36), u = u_k + gain dx; joint position i is column 6 + i, joint velocity 24 + i.
        kp_max: [N m/rad].
        kd_max: [N m s/rad].
    """
    kp, kd = np.empty(12), np.empty(12)
    for i in range(12):
        kp[i] = min(kp_max, max(0.0, -gain[i, 6 + i]))
        kd[i] = min(kd_max, max(0.0, -gain[i, 24 + i]))
    return kp, kd


def joint_gain(kp: float, kd: float) -> Array:
    """Return joint PD as a feedback gain (12, 36), see `split_gain`."""
    gain = np.zeros((12, 36))
    gain[:, 6:18], gain[:, 24:36] = -kp * np.eye(12), -kd * np.eye(12)
    return gain


@njit(cache=True)
def write_command(
    aim: Array, q: Array, dq: Array, limits: Array, command: Array, expected: Array
) -> int:
    """Write what to send so that the motor law at (q, dq) gives the aim's torque, within limits.

    The torque is clipped to the limit, the position target to the joint range, the velocity target
    to the motor's. A target further from the measurement than the torque limit reaches
    (torque_limit / kp, torque_limit / kd) comes nearer: the law stays exact, and |tau| can never
    exceed three torque limits (of an A1 100.5 N m; its wire wraps at 128). Finite numbers in give
    finite numbers out.

    Args:
        aim: (5, 12) a wanted torque [N m] at the sampling instant, and the feedback that acts
            around it between samples: q [rad], dq [rad/s], kp, kd; finite.
        q, dq: measured joints (12) [rad], [rad/s].
        limits: (4, 12) see `motor_limits`.
        command: row of `MotorCommand`, in which q, dq, kp, kd and tau are written.
        expected: (12) becomes the torque of the motor law at the sampling instant [N m].

    Returns:
        Whether a limit has changed a torque, or the target of a position, as bits.
    """
    bits = 0
    command[SENT_KP], command[SENT_KD] = aim[3], aim[4]
    q_des, dq_des, tau = command[SENT_Q], command[SENT_DQ], command[SENT_TAU]
    for i in range(12):
        torque, kp, kd, most = aim[0, i], aim[3, i], aim[4, i], limits[2, i]
        u = min(most, max(-most, torque))
        bits |= TORQUE_LIMITED if u != torque else 0
        target = min(limits[1, i], max(limits[0, i], aim[1, i]))
        bits |= POSITION_LIMITED if target != aim[1, i] else 0
        lead = most / max(kp, 1e-3)
        q_des[i] = min(q[i] + lead, max(q[i] - lead, target))
        speed = min(limits[3, i], max(-limits[3, i], aim[2, i]))
        lead = most / max(kd, 1e-3)
        dq_des[i] = min(dq[i] + lead, max(dq[i] - lead, speed))
        tau[i] = u - kp * (q_des[i] - q[i]) - kd * (dq_des[i] - dq[i])
        expected[i] = u
    return bits


def motor_limits(robot: Robot, torque: float | None, margin: float) -> Array:
    """The limits of a robot (4, 12): of position targets, least and most [rad], torque, speed.

    Position targets reach up to `margin` [rad] beyond its joint ranges. `torque` is the largest
    [N m]; None takes the robot's own.
    """
    most = np.array(robot.torque_limit) if torque is None else np.full(12, float(torque))
    lower, upper = robot.legs.lower - margin, robot.legs.upper + margin
    return np.stack((lower, upper, most, np.array(robot.velocity_limit)))
