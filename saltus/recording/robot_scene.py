"""A robot as a viewer draws it without its meshes: frames of its links and plain shapes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robots.conventions import FOOT_NAMES
from robots.legs import foot_positions_in_base
from robots.robot import Robot
from saltus.metrics.driving import base_rotation

Array = NDArray[np.float64]

WORLD, TRUNK, ESTIMATE = "world", "trunk", "estimate"
LEG_WIDTH = 0.03  # [m]


class SceneLink(NamedTuple):
    """A link, its parent, where its joint is there [m], and the joint's axis (0 x, 1 y)."""

    name: str
    parent: str
    offset: tuple[float, float, float]
    axis: int


class SceneShape(NamedTuple):
    """A box or ball in the frame of a link: its centre and size [m]."""

    link: str
    centre: tuple[float, float, float]
    size: tuple[float, float, float]
    round: bool = False


class RobotScene:
    """The links of a robot in motor order, and their shapes; the trunk's comes first.

    Attributes:
        links: (12).
        shapes: of trunk and legs.
        foot_diameter: [m]
    """

    def __init__(self, robot: Robot) -> None:
        """Derive both from the robot's legs and its trunk."""
        self._legs = legs = robot.legs
        low, high = robot.body
        self.links: list[SceneLink] = []
        self.foot_diameter = size = 2.0 * legs.foot_radius
        box = (0.5 * (low + high)).tolist(), (high - low).tolist()
        self.shapes = [SceneShape(TRUNK, (box[0][0], box[0][1], box[0][2]), tuple(box[1]))]
        for leg, foot in enumerate(FOOT_NAMES):
            thigh = float(legs.thigh[leg])
            x, y, z = legs.hip[leg].tolist()
            self.links += [
                SceneLink(f"{foot}_hip", TRUNK, (x, y, z), 0),
                SceneLink(f"{foot}_thigh", f"{foot}_hip", (0.0, float(legs.plane[leg]), 0.0), 1),
                SceneLink(f"{foot}_calf", f"{foot}_thigh", (0.0, 0.0, -thigh), 1),
            ]
            for link, length in (("thigh", thigh), ("calf", thigh * float(legs.ratio[leg]))):
                bar = (LEG_WIDTH, LEG_WIDTH, length)
                self.shapes.append(SceneShape(f"{foot}_{link}", (0.0, 0.0, -0.5 * length), bar))
            ball = (0.0, 0.0, -thigh * float(legs.ratio[leg]))
            self.shapes.append(SceneShape(f"{foot}_calf", ball, (size, size, size), round=True))

    def link_rotations(self, joints: Array) -> list[list[float]]:
        """Quaternions (x, y, z, w) of the links in their parents, of joints (12) [rad]."""
        half = 0.5 * joints
        rows = np.zeros((12, 4))
        rows[np.arange(12), [link.axis for link in self.links]] = np.sin(half)
        rows[:, 3] = np.cos(half)
        return np.round(rows, 6).tolist()

    def foot_position(self, q: Array, leg: int) -> list[float]:
        """Where a foot is in the world [m] in the configuration q (19,)."""
        foot = foot_positions_in_base(self._legs, np.ascontiguousarray(q[7:], dtype=np.float64))[
            leg
        ]
        return np.round(q[:3] + base_rotation(q[3:7]) @ foot, 6).tolist()
