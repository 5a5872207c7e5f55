"""The control law that each motor's driver runs, with its own encoder, at 10-20 kHz.

Source: unitree_legged_sdk thread 98, and the header of the vendor's unitree_actuator_sdk.
"""

from typing import TypeVar

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

T = TypeVar("T", float, NDArray[np.float64])


@register_jitable
def motor_torque(q_des: T, dq_des: T, kp: T, kd: T, tau: T, q: T, dq: T) -> T:
    """Return the torque tau + kp (q_des - q) + kd (dq_des - dq) [N m] at the joint state q, dq.

    Of one motor or of arrays of motors, in plain Python or in compiled code; positions [rad],
    velocities [rad/s], kp [N m/rad], kd [N m s/rad].
    """
    return tau + kp * (q_des - q) + kd * (dq_des - dq)
