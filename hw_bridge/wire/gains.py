"""Gains as the wire can carry them, and a torque that makes up for what is cut off."""

import numpy as np

from hw_bridge.setpoints import Array, Setpoints
from hw_bridge.wire.layout import KD_SCALE, KP_SCALE, POS_STOP, VEL_STOP


def with_wire_gains(setpoints: Setpoints, q: Array, dq: Array) -> Setpoints:
    """Cut gains to the wire's counts, and keep the law's torque at measured joints.

    The wire truncates kd to 1/16 N m s/rad: at 20 rad/s that alone changes a torque by 1.2 N m.
    With tau' = tau + (kp - kp') (q_des - q) + (kd - kd') (dq_des - dq) the law gives what it gave
    at the sampling instant. A velocity loop that is switched off has no part in it. A motor
    without a position loop is damped and gets no torque: one that stays where its speed does not
    would drive it. It loses less than 1/16 N m s/rad.

    Args:
        setpoints: wanted.
        q, dq: measured joints (12) [rad], [rad/s].
    """
    kp = np.trunc(setpoints.kp * KP_SCALE) / KP_SCALE
    kd = np.trunc(setpoints.kd * KD_SCALE) / KD_SCALE
    spring = (setpoints.kp - kp) * (setpoints.q - q)
    damper = (setpoints.kd - kd) * (setpoints.dq - dq) * (setpoints.dq != VEL_STOP)
    lost = (spring + damper) * (setpoints.q != POS_STOP)
    return setpoints._replace(kp=kp, kd=kd, tau=setpoints.tau + lost)
