"""From forces on feet to the knots of a plan: nominal states, torques and joint feedback."""

# Compiled modules carry no stubs.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numba import njit
from numpy.typing import NDArray

from controller.centroidal.body_state import BodyState
from controller.centroidal.options import SteppingOptions
from controller.centroidal.rigid_body import SingleRigidBody
from robots.conventions import GRAVITY
from robots.legs import (
    Legs,
    foot_jacobians_in_base,
    foot_positions_in_base,
    inverse_kinematics,
)
from robots.pinocchio_model import load_pinocchio
from robots.robot import Robot
from robots.rotations import exp3, quaternion_from_rotation, rotation_from_quaternion

Array = NDArray[np.float64]


class FootSchedule(NamedTuple):
    """Feet over the knots of a plan, in the world.

    Attributes:
        contacts: (N, 4), 1 where a foot stands; forces: on the feet (N, 4, 3) [N].
        positions: (N+1, 4, 3) [m]; velocities: (N+1, 4, 3) [m/s].
    """

    contacts: Array
    forces: Array
    positions: Array
    velocities: Array


class Knots(NamedTuple):
    """What a Plan carries: q (N+1, 19), v (N+1, 18), torques (N, 12) [N m], gains (N, 12, 36)."""

    q: Array
    v: Array
    inputs: Array
    gains: Array


class PlanKnots:
    """Makes a plan's knots from forces: tau = (M a + h)_joints - J' f, and joint feedback."""

    def __init__(
        self, options: SteppingOptions, robot: Robot, body: SingleRigidBody, period: float
    ) -> None:
        """`body` is the robot as one; `period` is the time between knots [s]."""
        self._body, self._period = body, period
        self._legs, self._most = robot.legs, robot.torque_limit
        self._model = load_pinocchio(robot)
        self._data = self._model.createData()
        self._stand_gain = joint_gain(options.stance_kp, options.stance_kd)
        self._swing_gain = joint_gain(options.kp, options.kd)

    def make(self, state: BodyState, feet: FootSchedule) -> Knots:
        """The knots that begin at `state`."""
        inertia = state.rotation @ self._body.inertia_in_base @ state.rotation.T
        q, v, base = follow_body(
            self._legs, state.rotation, state.base, state.com, state.com_velocity,
            state.angular_velocity, feet.positions, feet.velocities, feet.forces, self._body.mass,
            inertia, self._period,
        )  # fmt: skip
        inputs = np.array([self._torque(q, v, base, feet, k) for k in range(len(feet.forces))])
        standing = np.repeat(feet.contacts, 3, axis=1)[:, :, None] > 0.5
        return Knots(q, v, inputs, np.where(standing, self._stand_gain, self._swing_gain))

    def _torque(self, q: Array, v: Array, base: Array, feet: FootSchedule, k: int) -> Array:
        """Joint torques of knot k (12,) [N m]: the legs' inverse dynamics and the feet's forces."""
        swings = np.repeat(feet.contacts[k] < 0.5, 3)
        a = np.concatenate([base[k], np.where(swings, (v[k + 1] - v[k])[6:] / self._period, 0.0)])
        torque = pin.rnea(self._model, self._data, q[k], v[k], a)[6:]
        torque = torque - foot_torques(self._legs, q[k], feet.forces[k])
        return np.clip(torque, -self._most, self._most)


def joint_gain(kp: float, kd: float) -> Array:
    """Joint PD as a feedback gain (12, 36) on x (-) x_nom."""
    gain = np.zeros((12, 36))
    gain[:, 6:18], gain[:, 24:36] = -kp * np.eye(12), -kd * np.eye(12)
    return gain


@njit(cache=True)
def foot_torques(legs: Legs, q: Array, forces: Array) -> Array:
    """J' f (12,) [N m]: what forces on the feet (4, 3) [N] in the world do to the joints."""
    rotation = rotation_from_quaternion(q[3:7])
    jacobians = foot_jacobians_in_base(legs, q[7:])
    torque = np.empty(12)
    for foot in range(4):
        in_base = rotation.T @ np.ascontiguousarray(forces[foot])
        torque[3 * foot : 3 * foot + 3] = jacobians[foot].T @ in_base
    return torque


@njit(cache=True)
def follow_body(
    legs: Legs, rotation: Array, base: Array, com: Array, velocity: Array,
    angular_velocity: Array, positions: Array, velocities: Array, forces: Array, mass: float,
    inertia: Array, period: float,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Move the rigid body under the forces and put the legs to the feet.

    Args:
        legs: of the robot.
        rotation: base to world (3, 3); base, com: positions (3) [m]; velocity: of the centre of
            mass (3) [m/s]; angular_velocity: (3) [rad/s], all in the world.
        positions, velocities: of the feet at the knots (N+1, 4, 3); forces: (N, 4, 3) [N].
        mass: [kg]; inertia: in the world (3, 3) [kg m^2]; period: between knots [s].

    Returns:
        q (N+1, 19), v (N+1, 18), and the base's acceleration in Pinocchio's sense (N, 6).
    """
    count = forces.shape[0]
    q, v = np.empty((count + 1, 19)), np.empty((count + 1, 18))
    acceleration = np.empty((count, 6))
    arm = rotation.T @ (com - base)  # of the centre of mass in the base
    turn, p, w, u = rotation.copy(), com.copy(), angular_velocity.copy(), velocity.copy()
    inverse = np.linalg.inv(inertia)
    for k in range(count + 1):
        _pose_legs(legs, turn, p - turn @ arm, u - np.cross(w, turn @ arm), w, positions[k],
                   velocities[k], q[k], v[k])  # fmt: skip
        if k == count:
            break
        force, moment = np.zeros(3), np.zeros(3)
        for foot in range(4):
            force += forces[k, foot]
            moment += np.cross(positions[k, foot] - p, forces[k, foot])
        linear = force / mass
        linear[2] -= GRAVITY
        angular = inverse @ moment
        # Pinocchio's is the derivative of the base's velocity as seen from the turning base.
        lever = turn @ arm
        world = linear - np.cross(angular, lever) - np.cross(w, np.cross(w, lever))
        acceleration[k, :3] = turn.T @ world - np.cross(v[k, 3:6], v[k, :3])
        acceleration[k, 3:] = turn.T @ angular
        p = p + period * u + 0.5 * period * period * linear
        turn = exp3(period * w + 0.5 * period * period * angular) @ turn
        u = u + period * linear
        w = w + period * angular
    return q, v, acceleration


@njit(cache=True)
def _pose_legs(
    legs: Legs, turn: Array, base: Array, velocity: Array, w: Array, feet: Array,
    feet_velocity: Array, q: Array, v: Array,
) -> None:  # fmt: skip
    """Write q (19) and v (18): base as given, joints by inverse kinematics of the feet."""
    inverse_turn = np.ascontiguousarray(turn.T)
    q[:3] = base
    q[3:7] = quaternion_from_rotation(turn)
    v[:3] = inverse_turn @ velocity
    v[3:6] = inverse_turn @ w
    relative = np.empty((4, 3))
    for foot in range(4):
        relative[foot] = inverse_turn @ (feet[foot] - base)
    joints = inverse_kinematics(legs, relative)
    reached = foot_positions_in_base(legs, joints)
    jacobians = foot_jacobians_in_base(legs, joints)
    q[7:] = joints
    for foot in range(4):
        speed = inverse_turn @ feet_velocity[foot] - v[:3] - np.cross(v[3:6], reached[foot])
        gram = jacobians[foot].T @ jacobians[foot]
        for i in range(3):
            gram[i, i] += 1e-6  # a stretched leg must not ask for endless joint speeds
        v[6 + 3 * foot : 9 + 3 * foot] = np.linalg.solve(gram, jacobians[foot].T @ speed)
