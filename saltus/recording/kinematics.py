"""Poses of a robot's links, by MuJoCo: for the page and for the open channels."""

from typing import Any

import mujoco
import numpy as np

from robots.conventions import FOOT_NAMES
from robots.mujoco_model import load_mujoco
from robots.robot import Robot
from runtime.checked import Array

FEET, LOOKS, BODY = 1, 2, 3  # geom groups of robots/a1/a1.xml


class Kinematics:
    """Places the links of a robot.

    Attributes:
        model: MuJoCo's.
        links: names of its bodies, the trunk's first, without the world.
    """

    def __init__(self, robot: Robot, meshes: bool = False) -> None:
        """Load the model; with `meshes`, what it looks like too."""
        self.model: Any = load_mujoco(robot, meshes=meshes)
        self.links = [self.model.body(i).name for i in range(1, self.model.nbody)]
        self._data: Any = mujoco.MjData(self.model)
        self._feet = [self.model.geom(f"{name}_foot").id for name in FOOT_NAMES]

    def place(self, q: Array) -> tuple[Array, Array, Array]:
        """Positions (B, 3) and quaternions w, x, y, z (B, 4) of the bodies, and feet (4, 3).

        q (19) as in the messages; all in world [m]. Body 0 is the world.
        """
        self._data.qpos[:] = np.concatenate([q[:3], q[[6, 3, 4, 5]], q[7:]])
        mujoco.mj_kinematics(self.model, self._data)
        data = self._data
        return data.xpos.copy(), data.xquat.copy(), data.geom_xpos[self._feet].copy()
