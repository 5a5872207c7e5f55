"""The ground as a robot that does not know it believes it to be: by its last footprints.

A plane through the footprints gives the slope. Each quarter around their centre is as high as the
footprint there: a foot that stands must find the ground where it is, for a few millimetres change
its force by half.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from robots.a1.constants import FOOT_RADIUS
from robots.a1.kinematics import foot_positions_in_base
from robots.footprints import plane_of
from robots.rotations import Array, rotation_from_quaternion
from robots.terrain import Box, Ground, make_ground
from runtime.messages import StateEstimate

STANDS = 0.5  # probability of contact from which a foot leaves a footprint
REACH, DEPTH = 2.5, 0.5  # half the size of a quarter, and half its thickness [m]
QUARTERS = np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, -1.0], [-1.0, 1.0]])  # of the feet, in order


class Simulator(Protocol):
    """Physics on a ground: a rollout backend, or derivatives."""

    def move_ground(self, ground: Ground) -> None:
        """Put the ground's boxes where `ground` has them now."""
        ...


class GroundEstimate:
    """Follows the feet, and keeps a ground and the simulators on it up to date.

    Attributes:
        ground: four wide boxes; what holds it sees them move.
        simulators: whose own ground is moved too.
    """

    def __init__(self, level: bool) -> None:
        """A floor at z = 0; where it is taken for `level` it never tilts."""
        quarters = [
            Box((REACH * x, REACH * y, -DEPTH), (REACH, REACH, DEPTH)) for x, y in QUARTERS
        ]
        self.ground: Ground = make_ground(tuple(quarters))._replace(floor=-10.0)
        self.simulators: list[Simulator] = []
        self._level = level
        self._footprints: Array | None = None

    def follow(self, estimate: StateEstimate) -> None:
        """Take the feet that stand in; one that has never stood is where the kinematics have it."""
        q = estimate.q
        base = rotation_from_quaternion(q[3:7])
        feet = q[:3] + foot_positions_in_base(q[7:]) @ base.T
        feet[:, 2] -= FOOT_RADIUS
        if not np.isfinite(feet).all():
            return
        if self._footprints is None:
            self._footprints = feet
        stand = estimate.contact > STANDS
        self._footprints[stand] = feet[stand]
        self._place(self._footprints, base[:, 0])
        for simulator in self.simulators:
            simulator.move_ground(self.ground)

    def _place(self, footprints: Array, forward: Array) -> None:
        """Write the boxes: parallel to the plane, along the heading, through the footprints."""
        plane = plane_of(footprints)
        a, b = (0.0, 0.0) if self._level else plane.slope
        normal = np.array([-a, -b, 1.0]) / np.sqrt(1.0 + a * a + b * b)
        left = np.cross(normal, forward)
        left /= np.sqrt(left @ left)
        axes = np.stack([np.cross(left, normal), left, normal], axis=1)
        self.ground.rotation[:] = axes
        heights = (footprints - plane.centre) @ normal
        for centre, quarter, height in zip(self.ground.centre, QUARTERS, heights, strict=True):
            centre[:] = plane.centre + axes @ np.array([*(REACH * quarter), height - DEPTH])
