"""The ground as a robot that does not know it believes it to be: by its last footprints.

A plane through the footprints gives the slope. Each quarter of the ground is as high as the
footprint in it: a foot that stands must find the ground where it is, for a few millimetres change
its force by half. Where the fore feet have stepped up or down, the border between the front and the
rear lies there, so that the hind feet know the edge before they come to it.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from robots.footprints import ROUGHNESS, plane_of
from robots.legs import foot_positions_in_base
from robots.robot import Robot
from robots.rotations import Array, rotation_from_quaternion
from robots.terrain import Box, Ground, Simulator, make_ground
from runtime.messages import StateEstimate

STANDS = 0.5  # probability of contact from which a foot leaves a footprint
REACH, DEPTH = 2.5, 0.5  # half the size of a quarter, and half its thickness [m]
QUARTERS = np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, -1.0], [-1.0, 1.0]])  # of the feet, in order
TRAIL = 6  # footprints of a fore foot that are remembered
APART = 0.05  # distance of two footprints [m]; a foot that stands nearer to its last one slides
FLOOR = -5e3  # out of reach [m]: the estimated height drifts, by 100 m an hour
EDGE = 0.02  # between two footprints, across the plane, from which there is a step [m]


class GroundEstimate:
    """Follows the feet, and keeps a ground and the simulators on it up to date.

    Attributes:
        ground: four wide boxes; what holds it sees them move.
        simulators: whose own ground is moved too.
    """

    def __init__(self, robot: Robot, level: bool) -> None:
        """A floor at z = 0; where it is taken for `level` it never tilts, and is not rough."""
        quarters = [Box((REACH * x, REACH * y, -DEPTH), (REACH, REACH, DEPTH)) for x, y in QUARTERS]
        self.ground: Ground = make_ground(tuple(quarters))._replace(
            floor=FLOOR, roughness=0.0 if level else ROUGHNESS
        )
        self.simulators: list[Simulator] = []
        self._legs, self._level = robot.legs, level
        self._footprints: Array | None = None
        self._trails = [deque[Array](maxlen=TRAIL) for _ in range(2)]  # of the fore feet

    def follow(self, estimate: StateEstimate) -> None:
        """Take the feet that stand in; one that has never stood is where the kinematics have it."""
        q = estimate.q
        base = rotation_from_quaternion(q[3:7])
        feet = q[:3] + foot_positions_in_base(self._legs, q[7:]) @ base.T
        feet[:, 2] -= self._legs.foot_radius
        if not np.isfinite(feet).all():
            return
        if self._footprints is None:
            self._footprints = feet
        stand = estimate.contact > STANDS
        self._footprints[stand] = feet[stand]
        for trail, footprint in zip(self._trails, self._footprints, strict=False):
            if trail and np.hypot(*(footprint - trail[-1])[:2]) < APART:
                trail.pop()
            trail.append(footprint.copy())
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
        local = (footprints - plane.centre) @ axes
        borders = [
            _border((np.array(trail) - plane.centre) @ axes, hind)
            for trail, hind in zip(self._trails, local[2:], strict=True)
        ]
        for i, centre in enumerate(self.ground.centre):
            x, y = REACH * QUARTERS[i]
            centre[:] = plane.centre + axes @ np.array([borders[i % 2] + x, y, local[i, 2] - DEPTH])


def _border(trail: Array, hind: Array) -> float:
    """Height of the step in the ground between a hind foot and the fore foot of its side [m].

    It is in the middle of the two footprints of the largest step; 0 where there is none.

    Args:
        trail: footprints (n, 3) of the fore foot along the plane's axes [m], the newest last.
        hind: the hind foot's newest (3,) [m].
    """
    between = trail[trail[:, 0] > hind[0]]
    way = np.vstack([hind, between[np.argsort(between[:, 0])]])
    steps = np.abs(np.diff(way[:, 2]))
    if not len(steps) or steps.max() < EDGE:
        return 0.0
    k = int(steps.argmax())
    return float(0.5 * (way[k, 0] + way[k + 1, 0]))
