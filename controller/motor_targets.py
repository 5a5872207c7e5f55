"""What a motor is asked to do, and how that becomes the five numbers the motor driver takes.

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

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from robots.robot import Robot

Array = NDArray[np.float64]


class MotorAim(NamedTuple):
    """A wanted torque and the feedback that acts around it between samples, twelve of each."""

    torque: Array  # [N m] at the sampling instant
    q: Array  # [rad]
    dq: Array  # [rad/s]
    kp: Array  # [N m/rad]
    kd: Array  # [N m s/rad]

    def mixed_with(self, other: "MotorAim", share: float) -> "MotorAim":
        """Return (1 - share) self + share other, part by part."""
        return MotorAim(*(a + share * (b - a) for a, b in zip(self, other, strict=True)))


class MotorLimits(NamedTuple):
    """What is sent to the motors stays within, twelve of each."""

    lower: Array  # of position targets [rad]
    upper: Array  # [rad]
    torque: Array  # [N m]
    speed: Array  # of velocity targets [rad/s]


class MotorTarget(NamedTuple):
    """What is sent to the motors, and whether limits changed it."""

    q: Array
    dq: Array
    tau: Array
    torque: Array  # expected of the motor law at the sampling instant [N m]
    torque_limited: bool
    position_limited: bool


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
def bounded_targets(
    torque: Array, q_aim: Array, dq_aim: Array, kp: Array, kd: Array, q: Array, dq: Array,
    lower: Array, upper: Array, torque_limit: Array, velocity_limit: Array,
) -> tuple[Array, Array, Array, Array, bool, bool]:  # fmt: skip
    """Return the fields of `MotorTarget`; see `to_motor_target`."""
    q_des, dq_des, tau, u = np.empty(12), np.empty(12), np.empty(12), np.empty(12)
    torque_limited, position_limited = False, False
    for i in range(12):
        most = torque_limit[i]
        u[i] = min(most, max(-most, torque[i]))
        torque_limited |= u[i] != torque[i]
        target = min(upper[i], max(lower[i], q_aim[i]))
        position_limited |= target != q_aim[i]
        lead = most / max(kp[i], 1e-3)
        q_des[i] = min(q[i] + lead, max(q[i] - lead, target))
        speed = min(velocity_limit[i], max(-velocity_limit[i], dq_aim[i]))
        lead = most / max(kd[i], 1e-3)
        dq_des[i] = min(dq[i] + lead, max(dq[i] - lead, speed))
        tau[i] = u[i] - kp[i] * (q_des[i] - q[i]) - kd[i] * (dq_des[i] - dq[i])
    return q_des, dq_des, tau, u, torque_limited, position_limited


def motor_limits(robot: Robot, torque: float | None, margin: float) -> MotorLimits:
    """The limits of a robot, position targets up to `margin` [rad] beyond its joint ranges.

    `torque` is the largest [N m]; None takes the robot's own.
    """
    most = np.array(robot.torque_limit) if torque is None else np.full(12, float(torque))
    lower, upper = robot.legs.lower - margin, robot.legs.upper + margin
    return MotorLimits(lower, upper, most, np.array(robot.velocity_limit))


def to_motor_target(aim: MotorAim, q: Array, dq: Array, limits: MotorLimits) -> MotorTarget:
    """Return what to send so that the motor law at (q, dq) gives `aim.torque`, within the limits.

    The torque is clipped to the limit, the position target to the joint range, the velocity target
    to the motor's. A target further from the measurement than the torque limit reaches
    (torque_limit / kp, torque_limit / kd) comes nearer: the law stays exact, and |tau| can never
    exceed three torque limits (of an A1 100.5 N m; its wire wraps at 128).

    Args:
        aim: what is wanted; finite.
        q, dq: measured joints (12) [rad], [rad/s].
        limits: of what is sent.

    Finite numbers in give finite numbers out.
    """
    return MotorTarget(*bounded_targets(*aim, q, dq, *limits))
