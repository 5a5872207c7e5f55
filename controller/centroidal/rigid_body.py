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
from numba import njit
from numpy.typing import NDArray

from robots.conventions import GRAVITY
from robots.legs import foot_positions_in_base
from robots.pinocchio_model import load_pinocchio
from robots.robot import Robot
from robots.rotations import log3, rotation_from_quaternion

Array = NDArray[np.float64]


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


@njit(cache=True, error_model="numpy")
def invert_symmetric(matrix: Array) -> Array:
    """Inverse of a symmetric matrix (3, 3); not finite where there is none."""
    a, b, c = matrix[0, 0], matrix[0, 1], matrix[0, 2]
    d, e, f = matrix[1, 1], matrix[1, 2], matrix[2, 2]
    inverse = np.empty((3, 3))
    inverse[0, 0], inverse[1, 1], inverse[2, 2] = d * f - e * e, a * f - c * c, a * d - b * b
    inverse[0, 1] = inverse[1, 0] = c * e - b * f
    inverse[0, 2] = inverse[2, 0] = b * e - c * d
    inverse[1, 2] = inverse[2, 1] = b * c - a * e
    determinant = a * inverse[0, 0] + b * inverse[0, 1] + c * inverse[0, 2]
    return inverse / determinant


@njit(cache=True)
def angular_input_map(arms: Array, inverse_inertia: Array, result: Array) -> None:
    """Write d w' / d forces (3, 12) [rad/s^2/N]: I^-1 [r_i]x for each foot, side by side.

    Args:
        arms: from the centre of mass to the feet (4, 3) [m].
        inverse_inertia: in the world (3, 3) [1/(kg m^2)].
    """
    for foot in range(4):
        x, y, z = arms[foot]
        for row in range(3):
            a, b, c = inverse_inertia[row]
            result[row, 3 * foot] = b * z - c * y
            result[row, 3 * foot + 1] = c * x - a * z
            result[row, 3 * foot + 2] = a * y - b * x


@njit(cache=True)
def advance(state: Array, angular: Array, linear: Array, dt: float, result: Array) -> None:
    """Write the state (12,) after `dt` [s] of constant accelerations: the exact discretisation.

    Args:
        angular, linear: accelerations w' (3,) [rad/s^2] and v', gravity included (3,) [m/s^2].
    """
    for i in range(3):
        w, v = state[6 + i], state[9 + i]
        result[i] = state[i] + dt * w + 0.5 * dt * dt * angular[i]
        result[3 + i] = state[3 + i] + dt * v + 0.5 * dt * dt * linear[i]
        result[6 + i] = w + dt * angular[i]
        result[9 + i] = v + dt * linear[i]


@njit(cache=True)
def discrete_step(
    state: Array, forces: Array, arms: Array, mass: float, inverse_inertia: Array, dt: float,
    result: Array,
) -> None:  # fmt: skip
    """Write the state (12,) after `dt` [s] of constant `forces` (4, 3) [N] on constant `arms`."""
    angular_map = np.empty((3, 12))
    angular_input_map(arms, inverse_inertia, angular_map)
    angular, linear = np.zeros(3), np.zeros(3)
    linear[2] = -GRAVITY
    for foot in range(4):
        for axis in range(3):
            linear[axis] += forces[foot, axis] / mass
            for row in range(3):
                angular[row] += angular_map[row, 3 * foot + axis] * forces[foot, axis]
    advance(state, angular, linear, dt, result)


@njit(cache=True)
def roll_out(
    x0: Array, forces: Array, arms: Array, mass: float, inverse_inertia: Array, dt: Array,
    states: Array,
) -> None:  # fmt: skip
    """Write the states (N, 12) after each of N steps from `x0` (12,).

    Args:
        forces, arms: (N, 4, 3) [N], [m]; dt: (N,) [s].
        inverse_inertia: in the world (3, 3) [1/(kg m^2)], taken as constant.
    """
    state = x0
    for k in range(forces.shape[0]):
        discrete_step(state, forces[k], arms[k], mass, inverse_inertia, dt[k], states[k])
        state = states[k]


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
