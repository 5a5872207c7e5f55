"""The mechanisms of the example impacts as lines, with the names of their contacts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hybrid.systems import Array
from saltus.studies.halm_posa.systems import (
    box_and_wall,
    compass_gait,
    disk_stacking,
    ramone,
    rocking_block,
)
from saltus.studies.style import COLOURS, GUARD

_ROUND = np.linspace(0.0, 2.0 * np.pi, 60)


class Sketch(NamedTuple):
    """One mechanism at the impact."""

    lines: list[Array]  # (k, 2) corners [m]
    contacts: Array  # (m, 2) [m]
    wall: float | None = None  # x of a wall [m]


def draw_sketch(axis: Any, name: str, contacts: tuple[str, ...]) -> None:
    """Draw the system ``name`` of the catalogue on the ground y = 0."""
    sketch = SKETCHES[name]()
    for line in sketch.lines:
        axis.plot(*line.T, color="0.3", lw=1.4)
    for at, label in zip(sketch.contacts, contacts, strict=True):
        axis.plot(*at, "o", color=COLOURS["dxr"], ms=4, zorder=3)
        axis.annotate(label, at, xytext=(9, 4), textcoords="offset points", fontsize=9)
    axis.axhline(0.0, **GUARD)
    if sketch.wall is not None:
        axis.axvline(sketch.wall, **GUARD)
    axis.set(xlabel="x [m]", ylabel="y [m]")
    axis.margins(0.15)
    axis.set_aspect("equal", adjustable="datalim")


def _block() -> Sketch:
    block = rocking_block.RockingBlock()
    feet = rocking_block.corners(block, rocking_block.standing(block))
    top = feet[::-1] + [0.0, block.height]
    return Sketch([np.vstack([feet, top, feet[:1]])], feet)


def _gait() -> Sketch:
    gait = compass_gait.CompassGait()
    hip, feet, masses = compass_gait.joints(gait, compass_gait.configuration(gait))
    weights = [mass + 0.03 * _circle() for mass in masses]
    return Sketch([np.array([feet[0], hip, feet[1]]), *weights], feet)


def _box() -> Sketch:
    box = box_and_wall.BoxAndWall()
    q = box_and_wall.configuration(box)
    right = box_and_wall.corners(box, q)
    left = 2.0 * q[:2] - right
    return Sketch([np.vstack([right, left, right[:1]])], right, 0.0)


def _ramone() -> Sketch:
    robot = ramone.Ramone()
    legs = ramone.joints(robot, ramone.configuration(robot))
    discs = [leg[-1] + robot.foot_radius * _circle() for leg in legs]
    return Sketch([*legs, *discs], legs[:, -1] - [0.0, robot.foot_radius])


def _stack() -> Sketch:
    stack = disk_stacking.DiskStacking()
    centres = disk_stacking.configuration(stack).reshape(3, 3)[:, :2]
    floor = centres * [1.0, 0.0]
    touching = [
        floor[disk] if other == disk_stacking.GROUND else 0.5 * (centres[disk] + centres[other])
        for disk, other in disk_stacking.CONTACTS.values()
    ]
    return Sketch([centre + stack.radius * _circle() for centre in centres], np.array(touching))


def _circle() -> Array:
    return np.stack([np.cos(_ROUND), np.sin(_ROUND)], axis=1)


SKETCHES = {
    "rocking block": _block,
    "compass gait": _gait,
    "box and wall": _box,
    "RAMone": _ramone,
    "disk stacking": _stack,
}  # by the catalogue's names
