"""The start of every run: standing still, with the torques that hold the robot up."""

import math

import mujoco
import numpy as np
from numpy.typing import NDArray

from robots.conventions import FOOT_NAMES
from robots.robot import Robot
from sim_bridge.motors import motor_torques

Array = NDArray[np.float64]

_SETTLE_S = 1.0  # [s], enough for soft contacts to come to rest under the stiff gains
_STIFF = (400.0, 8.0)  # kp [N m/rad], kd [N m s/rad] while settling
_HOLD = (60.0, 2.0)  # kp, kd of the hold that waits for the first command
_UNLIMITED = np.outer((1e3, 1e3, 2e3), np.ones(12))


def stand(robot: Robot, model: mujoco.MjModel, data: mujoco.MjData, normal: Array) -> Array:
    """Put the robot on the ground, at rest above the origin, at time 0.

    The feet start at the height where they just touch; gravity is carried by the torques of static
    equilibrium, and a short settling under stiff gains lets the soft contacts come to rest.

    Args:
        robot: that stands.
        model: of it and its world.
        data: overwritten.
        normal: of the ground at the origin (3); the robot stands parallel to it.

    Returns:
        The command (5, 12), rows q, dq, kp, kd, tau, that keeps it standing.
    """
    mujoco.mj_resetData(model, data)
    data.qpos[:3] = robot.stand_height * normal
    data.qpos[3:7] = tilt(normal)
    data.qpos[7:] = robot.stand
    mujoco.mj_forward(model, data)
    settle(model, data, _command(robot.stand, _STIFF, _holding_torque(model, data)), _SETTLE_S)
    data.qpos[:3] = (0.0, 0.0, normal @ data.qpos[:3] / normal[2])
    data.qvel[:] = 0.0
    data.time = 0.0
    mujoco.mj_forward(model, data)
    # The softer hold takes over at the posture and torques that the stiff gains came to rest with.
    return _command(data.qpos[7:], _HOLD, data.ctrl)


def tilt(normal: Array) -> Array:
    """The least rotation that turns the vertical into a normal (3): w, x, y, z (4)."""
    half = 0.5 * math.atan2(math.hypot(normal[0], normal[1]), normal[2])
    axis = np.array((-normal[1], normal[0]))
    size = math.hypot(*axis)
    x, y = math.sin(half) * axis / size if size > 0.0 else (0.0, 0.0)
    return np.array((math.cos(half), x, y, 0.0))


def _holding_torque(model: mujoco.MjModel, data: mujoco.MjData) -> Array:
    """Joint torques (12) [N m] of static equilibrium: g = S' tau + J' f with the least-norm f."""
    jacobian = np.zeros((12, model.nv))
    for i, name in enumerate(FOOT_NAMES):
        geom = model.geom(f"{name}_foot").id
        rows = jacobian[3 * i : 3 * i + 3]
        mujoco.mj_jac(model, data, rows, None, data.geom_xpos[geom], model.geom_bodyid[geom])
    gravity = data.qfrc_bias
    force = np.linalg.lstsq(jacobian[:, :6].T, gravity[:6], rcond=None)[0]
    return gravity[6:] - jacobian[:, 6:].T @ force


def _command(joints: Array, gains: tuple[float, float], torque: Array) -> Array:
    ones = np.ones(12)
    return np.array((joints, 0.0 * ones, gains[0] * ones, gains[1] * ones, torque))


def settle(model: mujoco.MjModel, data: mujoco.MjData, command: Array, seconds: float) -> None:
    """Live under a command (5, 12), with motors that have no limit."""
    for _ in range(round(seconds / model.opt.timestep)):
        motor_torques(command, data.qpos[7:], data.qvel[6:], _UNLIMITED, data.ctrl)
        mujoco.mj_step(model, data)
