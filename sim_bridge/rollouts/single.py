"""One state on from now, without feedback: by MuJoCo on the CPU, whatever rolls candidates out."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from robots.mujoco_model import move_geoms
from robots.robot import Robot
from robots.state import mujoco_from_pinocchio, pinocchio_from_mujoco
from robots.terrain import Ground
from sim_bridge.rollouts.planning_model import planning_model

Array = NDArray[np.float64]

LONGEST_STEP = 0.001  # of the physics [s]


class SingleSimulation:
    """Simulates one state for some time under a constant torque.

    One short simulation costs less here than the way to a device or a server and back.
    """

    def __init__(self, robot: Robot, ground: Ground | None = None) -> None:
        self.model = planning_model(robot, LONGEST_STEP, ground)
        self._data = mujoco.MjData(self.model)

    def move_ground(self, ground: Ground) -> None:
        """Put the ground's boxes where `ground` has them now."""
        move_geoms(self.model, ground)

    def advance(self, x: Array, torque: Array, duration: float) -> Array:
        """State after `duration` [s] under a constant torque (12,) [N m], in 1 ms steps or less."""
        data, model = self._data, self.model
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = mujoco_from_pinocchio(x[:19], x[19:])
        data.ctrl[:] = torque
        steps = max(1, round(duration / LONGEST_STEP))
        model.opt.timestep = duration / steps
        for _ in range(steps):
            mujoco.mj_step(model, data)
        return np.concatenate(pinocchio_from_mujoco(data.qpos, data.qvel))
