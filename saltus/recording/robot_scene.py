"""The A1 as a viewer draws it without its meshes: frames of its links and plain shapes."""

from math import cos, sin
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robots.a1.constants import (
    FOOT_NAMES,
    FOOT_RADIUS,
    HIP_POSITION_IN_BASE,
    LEG_SIDE,
    LINK_LENGTH,
    THIGH_OFFSET,
)
from saltus.metrics.driving import base_rotation

Array = NDArray[np.float64]

WORLD, TRUNK, ESTIMATE = "world", "trunk", "estimate"
TRUNK_SIZE = (0.267, 0.194, 0.114)  # [m] unitree_ros const.xacro trunk_length, _width, _height
LEG_WIDTH = 0.03  # [m] chosen here


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


def _links() -> tuple[SceneLink, ...]:
    links = []
    for leg, foot in enumerate(FOOT_NAMES):
        x, y, z = HIP_POSITION_IN_BASE[leg].tolist()
        side = float(LEG_SIDE[leg]) * THIGH_OFFSET
        links += [
            SceneLink(f"{foot}_hip", TRUNK, (x, y, z), 0),
            SceneLink(f"{foot}_thigh", f"{foot}_hip", (0.0, side, 0.0), 1),
            SceneLink(f"{foot}_calf", f"{foot}_thigh", (0.0, 0.0, -LINK_LENGTH), 1),
        ]
    return tuple(links)


def _shapes() -> tuple[SceneShape, ...]:
    shapes = [SceneShape(TRUNK, (0.0, 0.0, 0.0), TRUNK_SIZE)]
    for foot in FOOT_NAMES:
        for link in ("thigh", "calf"):
            size = (LEG_WIDTH, LEG_WIDTH, LINK_LENGTH)
            shapes.append(SceneShape(f"{foot}_{link}", (0.0, 0.0, -0.5 * LINK_LENGTH), size))
        ball = (2.0 * FOOT_RADIUS, 2.0 * FOOT_RADIUS, 2.0 * FOOT_RADIUS)
        shapes.append(SceneShape(f"{foot}_calf", (0.0, 0.0, -LINK_LENGTH), ball, round=True))
    return tuple(shapes)


LINKS = _links()  # in motor order
SHAPES = _shapes()


def link_rotations(joints: Array) -> list[list[float]]:
    """Quaternions (x, y, z, w) of the links in their parents, of joints (12) [rad]."""
    half = 0.5 * joints
    rows = np.zeros((12, 4))
    rows[np.arange(12), [link.axis for link in LINKS]] = np.sin(half)
    rows[:, 3] = np.cos(half)
    return np.round(rows, 6).tolist()


def foot_position(q: Array, leg: int) -> list[float]:
    """Where a foot is in the world [m] in the configuration q (19,).

    `robots.a1.kinematics` has the same formulas, but loads the compiler.
    """
    a, b, c = q[7 + 3 * leg : 10 + 3 * leg].tolist()
    x, y = -LINK_LENGTH * (sin(b) + sin(b + c)), LEG_SIDE[leg] * THIGH_OFFSET
    z = -LINK_LENGTH * (cos(b) + cos(b + c))
    foot = (x, y * cos(a) - z * sin(a), y * sin(a) + z * cos(a))
    position = q[:3] + base_rotation(q[3:7]) @ (HIP_POSITION_IN_BASE[leg] + foot)
    return np.round(position, 6).tolist()
