"""A floating base with four legs of three joints each, as plain arrays for compiled code."""

# Compiled modules carry no stubs.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from robots.rotations import Array

LEGS, LINKS = 4, 3


class LegTree(NamedTuple):
    """Lengths [m], masses [kg], inertias [kg m^2], in the frames of the links."""

    base_inertia: Array  # (6, 6) about the base's origin
    offset: Array  # (4, 3, 3) of each joint from the one before it
    axis: Array  # (4, 3, 3) of rotation
    mass: Array  # (4, 3)
    com: Array  # (4, 3, 3) centre of mass
    inertia: Array  # (4, 3, 3, 3) about the centre of mass
    foot: Array  # (4, 3) centre of the foot in the last link
    armature: Array  # (4, 3) inertia of the rotors at the joint
    gravity: Array  # (3) in the world [m/s^2]


def leg_tree(model: pin.Model, foot_frames: Sequence[int]) -> LegTree:
    """Take the numbers from a Pinocchio model: a free flyer and joints 2 to 13, leg by leg.

    Raises:
        ValueError: the model is no such tree, or a joint's frame is turned against its parent's.
    """
    parents = [int(parent) for parent in model.parents]
    if parents != [0, 0, 1, 2, 3, 1, 5, 6, 1, 8, 9, 1, 11, 12]:
        raise ValueError(f"four legs of three joints on a free base are needed, not {parents}")
    joints = range(2, 14)
    placements = [model.jointPlacements[j] for j in joints]
    if max(np.abs(placement.rotation - np.eye(3)).max() for placement in placements) > 1e-12:
        raise ValueError("a joint's frame is turned against its parent's")
    bodies = [model.inertias[j] for j in joints]

    def stack(values: list, *shape: int) -> Array:
        return np.array(values, dtype=np.float64).reshape(LEGS, LINKS, *shape)

    return LegTree(
        model.inertias[1].matrix().copy(),
        stack([placement.translation for placement in placements], 3),
        stack([_axis(model.joints[j]) for j in joints], 3),
        stack([body.mass for body in bodies]),
        stack([body.lever for body in bodies], 3),
        stack([body.inertia for body in bodies], 3, 3),
        np.array([model.frames[frame].placement.translation for frame in foot_frames]),
        model.armature[6:].reshape(LEGS, LINKS).copy(),
        model.gravity.linear.copy(),
    )


def _axis(joint: pin.JointModel) -> Array:
    """Axis of a joint about x, y or z."""
    return np.eye(3)["XYZ".index(joint.shortname()[-1])]
