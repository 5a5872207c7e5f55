"""What the A1's motors make of a command: their PD law and the torque they can give at a speed.

The law is `robots.motor_law`. On the robot it runs at 10-20 kHz with the motor's own encoder,
hence here at every physics step with the true joint state of that step.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from robots.motor_law import motor_torque

Array = NDArray[np.float64]


@njit(cache=True)
def available_torque(
    speed: float, torque_limit: float, corner_speed: float, no_load_speed: float
) -> float:
    """Largest torque [N m] that still accelerates a joint turning at `speed` [rad/s].

    Constant up to the corner speed, then linear to zero at the no-load speed, zero above it.
    """
    share = (no_load_speed - abs(speed)) / (no_load_speed - corner_speed)
    return torque_limit * min(1.0, max(0.0, share))


@njit(cache=True)
def limited_torque(
    torque: float, speed: float, torque_limit: float, corner_speed: float, no_load_speed: float
) -> float:
    """The torque [N m] a motor gives when asked for `torque` at `speed` [rad/s].

    The speed curve limits torque in the direction of motion; braking torque keeps the full limit,
    because the back-EMF then helps the driver. A torque that is not finite becomes zero, which is
    what the robot's wire format makes of it.
    """
    if not math.isfinite(torque):
        return 0.0
    limit = torque_limit
    if torque * speed > 0.0:
        limit = available_torque(speed, torque_limit, corner_speed, no_load_speed)
    return min(limit, max(-limit, torque))


@njit(cache=True)
def motor_torques(
    command: Array, q: Array, dq: Array, limits: tuple[float, float, float], out: Array
) -> None:
    """Write the twelve motor torques [N m] into `out`.

    Args:
        command: (5, 12) rows q_des [rad], dq_des [rad/s], kp [N m/rad], kd [N m s/rad], tau [N m].
        q: (12) joint positions [rad].
        dq: (12) joint velocities [rad/s].
        limits: torque limit [N m], corner speed [rad/s], no-load speed [rad/s].
        out: (12), overwritten.
    """
    for i in range(out.shape[0]):
        torque = motor_torque(
            command[0, i], command[1, i], command[2, i], command[3, i], command[4, i], q[i], dq[i]
        )
        out[i] = limited_torque(torque, dq[i], limits[0], limits[1], limits[2])
