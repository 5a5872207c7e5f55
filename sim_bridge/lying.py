"""The other starts: lying on the belly with limp motors, as a robot is switched on."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from sim_bridge.standing import settle, tilt

Array = NDArray[np.float64]

# Joints (12) [rad] that the robot is let down with; limp legs then give way a little. Folded is the
# vendor's pose for lying down, thighs forward and shins under them, hips spread so that the belly
# comes to the floor (unitree_sdk2, example/go2/go2_low_level.cpp, target 3; the A1's legs are
# alike). Sprawled: no two legs alike, as after a fall or when the robot was put down by hand.
LYING_JOINTS = {
    "folded": np.array(
        [-0.35, 1.36, -2.65, 0.35, 1.36, -2.65, -0.5, 1.36, -2.65, 0.5, 1.36, -2.65]
    ),
    "sprawled": np.array(
        [-0.75, 0.6, -1.2, 0.5, 1.7, -1.1, -0.7, 1.9, -1.2, 0.75, 1.4, -2.3]
    ),
}  # fmt: skip
_CLEARANCE = 0.002  # [m] between the lowest shape and the floor when it is let go
_SETTLE_S = 4.0  # [s]
_DAMPING = 0.2  # kd [N m s/rad] while settling: the model's joints have no friction of their own


def lie(model: mujoco.MjModel, data: mujoco.MjData, start: str, normal: Array) -> Array:
    """Put the robot on the ground, lying limp and at rest near the origin, at time 0.

    Args:
        model: the simulated robot.
        data: overwritten.
        start: a key of LYING_JOINTS.
        normal: of the ground at the origin (3); the robot lies parallel to it.

    Returns:
        The command (5, 12), rows q, dq, kp, kd, tau, of no torque.
    """
    mujoco.mj_resetData(model, data)
    data.qpos[:3] = 0.0
    data.qpos[3:7] = tilt(normal)
    data.qpos[7:] = LYING_JOINTS[start]
    mujoco.mj_kinematics(model, data)
    data.qpos[:3] = (_CLEARANCE - _lowest(model, data, normal)) * normal
    command = np.zeros((5, 12))
    command[3] = _DAMPING
    settle(model, data, command, _SETTLE_S)
    data.qvel[:] = 0.0
    data.ctrl[:] = 0.0
    data.time = 0.0
    mujoco.mj_forward(model, data)
    return np.zeros((5, 12))


def _lowest(model: mujoco.MjModel, data: mujoco.MjData, normal: Array) -> float:
    """Height over the floor's plane of the lowest point of what can touch it [m]."""
    heights = []
    for geom in np.flatnonzero(model.geom_conaffinity):
        axes, size = data.geom_xmat[geom].reshape(3, 3), model.geom_size[geom]
        kind = model.geom_type[geom]
        if kind == mujoco.mjtGeom.mjGEOM_BOX:
            reach = np.abs(normal @ axes) @ size
        elif kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
            reach = size[0] + abs(normal @ axes[:, 2]) * size[1]
        else:
            reach = size[0]
        heights.append(normal @ data.geom_xpos[geom] - reach)
    return float(min(heights))
