"""Outlines of the A1 in a configuration, seen from one side."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np
from scipy.spatial import ConvexHull

from hybrid.systems import Array
from robots.conventions import FOOT_NAMES
from robots.mujoco_model import load_mujoco
from robots.robot import load_robot
from robots.state import mujoco_from_pinocchio

_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
_BOXES = ("trunk_body", "head_body")  # geoms


class Pose(NamedTuple):
    """Points in world [m].

    Attributes:
        trunk: (8, 3) corners; head: (8, 3), of the box in front of it.
        legs: (4, 4, 3) trunk, hip, knee and foot of each leg.
    """

    trunk: Array
    head: Array
    legs: Array


class PoseFinder:
    """Finds where the A1's parts are."""

    def __init__(self) -> None:
        """Load the robot."""
        self._model = load_mujoco(load_robot("a1"))
        self._data = mujoco.MjData(self._model)

    def pose(self, q: Array) -> Pose:
        """Of a configuration (19,)."""
        self._data.qpos[:] = mujoco_from_pinocchio(q, np.zeros(18))[0]
        mujoco.mj_kinematics(self._model, self._data)
        trunk, head = (self._corners(name) for name in _BOXES)
        return Pose(trunk, head, np.array([self._leg(foot) for foot in FOOT_NAMES]))

    def _corners(self, name: str) -> Array:
        box = self._data.geom(name)
        size = self._model.geom(name).size
        return box.xpos + (_CORNERS * size) @ box.xmat.reshape(3, 3).T

    def _leg(self, foot: str) -> Array:
        joints = [self._data.body(f"{foot}_{part}").xpos for part in ("hip", "thigh", "calf")]
        return np.array([*joints, self._data.geom(f"{foot}_foot").xpos])


def outline(corners: Array) -> Array:
    """Corners (k, 2) of the hull of points (n, 2), in order."""
    return corners[ConvexHull(corners).vertices]
