"""Torques of a robot's motors: their PD law, and the torque they can give at a speed.

The law is `robots.motor_law`. On the robot it runs at 10-20 kHz with the motor's own encoder,
hence here at every physics step with the true joint state of that step.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from robots.motor_law import motor_torque
from robots.robot import Robot
from sim_bridge.options import MotorOptions

Array = NDArray[np.float64]


def motor_limits(robot: Robot, options: MotorOptions) -> Array:
    """Return rows torque limit [N m], corner and no-load speed [rad/s] of the motors (3, 12).

    Raises:
        ValueError: a corner speed is not below its no-load speed.
    """
    limits = np.array((robot.torque_limit, robot.corner_speed, robot.velocity_limit))
    if options.torque_limit is not None:
        limits[0] = options.torque_limit
    if options.no_load_speed is not None:
        limits[1] *= options.no_load_speed / limits[2]
        limits[2] = options.no_load_speed
    if options.corner_speed is not None:
        limits[1] = options.corner_speed
    if not (limits[1] < limits[2]).all():
        raise ValueError(
            f"simulation.motors.corner_speed is {limits[1].max():g}; give less than "
            f"no_load_speed, {limits[2].min():g} rad/s"
        )
    return limits


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
def motor_torques(command: Array, q: Array, dq: Array, limits: Array, out: Array) -> None:
    """Write the twelve motor torques [N m] into `out`.

    Args:
        command: (5, 12) rows q_des [rad], dq_des [rad/s], kp [N m/rad], kd [N m s/rad], tau [N m].
        q: (12) joint positions [rad].
        dq: (12) joint velocities [rad/s].
        limits: (3, 12) as `motor_limits` returns them.
        out: (12), overwritten.
    """
    for i in range(out.shape[0]):
        torque = motor_torque(
            command[0, i], command[1, i], command[2, i], command[3, i], command[4, i], q[i], dq[i]
        )
        out[i] = limited_torque(torque, dq[i], limits[0, i], limits[1, i], limits[2, i])
