"""The robot as a single rigid body that its feet push (Di Carlo et al. 2018, on a rotation vector).

The state is x = [phi, p, w, v] (12), all in the world: rotation vector phi from the desired
orientation to the actual one [rad], centre of mass p [m], angular velocity w [rad/s], velocity v of
the centre of mass [m/s]. For small phi, phi' = w; p' = v; I w' = sum_i r_i x f_i (the gyroscopic
torque is left out); v' = sum_i f_i / m + g, with r_i from the centre of mass to foot i.
"""

# Compiled modules carry no stubs.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from robots.legs import foot_positions_in_base
from robots.pinocchio_model import load_pinocchio
from robots.robot import Robot
from robots.rotations import Array, log3, rotation_from_quaternion


class SingleRigidBody(NamedTuple):
    """All links frozen into one body.

    Attributes:
        mass: [kg]; com_in_base: centre of mass in the base (3,) [m].
        inertia_in_base: about the centre of mass, along the axes of the base (3, 3) [kg m^2].
    """

    mass: float
    inertia_in_base: Array
    com_in_base: Array


def standing_body(robot: Robot) -> SingleRigidBody:
    """The robot frozen in its stand."""
    model = load_pinocchio(robot)
    data = model.createData()
    q = np.concatenate((np.zeros(3), [0.0, 0.0, 0.0, 1.0], robot.stand))
    pin.ccrba(model, data, q, np.zeros(model.nv))  # about the centre of mass, in world axes
    return SingleRigidBody(float(data.Ig.mass), data.Ig.inertia.copy(), data.com[0].copy())


def invert_symmetric(matrix: Array) -> Array:
    """Inverse of a symmetric matrix (3, 3) by its upper half; not finite where there is none."""
    matrix = np.triu(matrix) + np.triu(matrix, 1).T
    adjugate = np.cross(matrix[[1, 2, 0]], matrix[[2, 0, 1]])
    return adjugate / (matrix[0] * adjugate[0]).sum()


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
        """x = [phi, p, w, v] (12) of `rigid_body`; the orientation wanted is level, yaw 0."""
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
