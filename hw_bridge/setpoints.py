"""What the motors shall do: the setpoints of their own control law."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hw_bridge.wire.layout import JOINTS, POS_STOP, SERVO, VEL_STOP

Array = NDArray[np.float64]


class Setpoints(NamedTuple):
    """Of the 12 motors: torque = tau + kp (q - q_measured) + kd (dq - dq_measured).

    The law runs on each motor's driver (header of the vendor's unitree_actuator_sdk). POS_STOP as
    q switches its position term off, VEL_STOP as dq its velocity term.

    Attributes:
        q: (12) [rad].
        dq: (12) [rad/s].
        kp: (12) [N m/rad].
        kd: (12) [N m s/rad].
        tau: (12) [N m].
        mode: SERVO or BRAKE, of all motors.
    """

    q: Array
    dq: Array
    kp: Array
    kd: Array
    tau: Array
    mode: int = SERVO


def no_torque() -> Setpoints:
    """Both loops off, zero gains and torque: what the vendor's InitCmdData prepares."""
    return Setpoints(_all(POS_STOP), _all(VEL_STOP), _all(0.0), _all(0.0), _all(0.0))


def damping(kd: float) -> Setpoints:
    """Position loop off, torque -kd dq_measured, with kd in [N m s/rad]."""
    return Setpoints(_all(POS_STOP), _all(0.0), _all(0.0), _all(kd), _all(0.0))


@njit(cache=True)
def is_switched_off(q: Array, dq: Array) -> bool:
    """Whether a loop of any motor is switched off, by targets (12) [rad], [rad/s]."""
    for i in range(len(q)):
        if q[i] >= POS_STOP or dq[i] >= VEL_STOP:
            return True
    return False


def law_torque(setpoints: Setpoints, q: Array, dq: Array) -> Array:
    """Torques (12) [N m] that the law gives at measured joints q (12) [rad], dq (12) [rad/s].

    Those of servo mode, whatever `mode` says: how hard the drivers brake is not published.
    """
    spring = np.where(setpoints.q == POS_STOP, 0.0, setpoints.kp * (setpoints.q - q))
    damper = np.where(setpoints.dq == VEL_STOP, 0.0, setpoints.kd * (setpoints.dq - dq))
    return setpoints.tau + spring + damper


def _all(value: float) -> Array:
    return np.full(JOINTS, value)
