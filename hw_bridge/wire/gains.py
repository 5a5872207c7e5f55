"""Gains as the wire can carry them, and a torque that makes up for what is cut off."""

import numpy as np
from numba import njit

from hw_bridge.setpoints import Array, Setpoints
from hw_bridge.wire.layout import JOINTS, KD_SCALE, KP_SCALE, POS_STOP, VEL_STOP


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
    plain = (np.ascontiguousarray(row, np.float64) for row in (*setpoints[:5], q, dq))
    kp, kd, tau = cut_gains(*plain)
    return Setpoints(setpoints.q, setpoints.dq, kp, kd, tau, setpoints.mode)


@njit(cache=True)
def cut_gains(
    q_des: Array, dq_des: Array, kp: Array, kd: Array, tau: Array, q: Array, dq: Array
) -> tuple[Array, Array, Array]:
    """Return kp, kd and tau of `with_wire_gains`, compiled."""
    n = kp.shape[0]
    kp_cut, kd_cut, tau_cut = np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        kp_cut[i] = np.trunc(kp[i] * KP_SCALE) / KP_SCALE
        kd_cut[i] = np.trunc(kd[i] * KD_SCALE) / KD_SCALE
        lost = 0.0
        if q_des[i] != POS_STOP:
            lost = (kp[i] - kp_cut[i]) * (q_des[i] - q[i])
            if dq_des[i] != VEL_STOP:
                lost += (kd[i] - kd_cut[i]) * (dq_des[i] - dq[i])
        tau_cut[i] = tau[i] + lost
    return kp_cut, kd_cut, tau_cut


def warm_up() -> None:
    """Compile everything here."""
    zero = np.zeros(JOINTS)
    cut_gains(zero, zero, zero, zero, zero, zero, zero)
