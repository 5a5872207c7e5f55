"""What the planners that reckon with one rigid body see of the robot: the body and its feet."""

# Compiled modules carry no stubs.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from robots.legs import foot_positions_in_base
from robots.pinocchio_model import load_pinocchio
from robots.robot import Robot
from robots.rotations import log3, rotation_from_quaternion

Array = NDArray[np.float64]


class BodyState(NamedTuple):
    """The body and the feet in the world.

    Attributes:
        rotation: base to world (3, 3); base: its origin (3) [m].
        com: centre of mass of the whole robot (3) [m]; com_velocity: (3) [m/s].
        angular_velocity: of the base (3) [rad/s].
        feet: centres of the foot spheres (4, 3) [m].
    """

    rotation: Array
    base: Array
    com: Array
    com_velocity: Array
    angular_velocity: Array
    feet: Array

    def vector(self) -> Array:
        """x = [phi, p, w, v] (12) of `force_mpc`; the orientation wanted is level, yaw 0."""
        phi = log3(self.rotation)
        return np.concatenate([phi, self.com, self.angular_velocity, self.com_velocity])

    def turned(self, turn: Array) -> BodyState:
        """The body with everything turned about the world's origin by a rotation (3, 3)."""
        return BodyState(
            turn @ self.rotation, turn @ self.base, turn @ self.com, turn @ self.com_velocity,
            turn @ self.angular_velocity, self.feet @ turn.T,
        )  # fmt: skip


class BodyObserver:
    """Reads the body's state out of a whole-body state."""

    def __init__(self, robot: Robot) -> None:
        """Load its model."""
        self._legs, self._model = robot.legs, load_pinocchio(robot)
        self._data = self._model.createData()

    def observe(self, q: Array, v: Array) -> BodyState:
        """The body at q (19), v (18)."""
        rotation = rotation_from_quaternion(q[3:7])
        pin.centerOfMass(self._model, self._data, q, v)
        feet = q[:3] + foot_positions_in_base(self._legs, q[7:]) @ rotation.T
        return BodyState(
            rotation, q[:3].copy(), self._data.com[0].copy(), self._data.vcom[0].copy(),
            rotation @ v[3:6], feet,
        )  # fmt: skip
