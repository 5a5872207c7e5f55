"""The planner that Convex MPC and Instant QP share: forces on the feet, swing legs, and a Plan."""

# Compiled modules carry no stubs.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numba import njit

from controller.centroidal.path import Path
from controller.centroidal.qp import Status
from controller.centroidal.rigid_body import BodyObserver, standing_body
from controller.centroidal.stepping import (
    ForceLaw,
    Forces,
    Situation,
    Stepper,
    foot_motion,
    foothold_table,
)
from controller.driving.commands import CommandIntake, sequence_of
from controller.motor_targets import joint_gain
from controller.planner import Planner
from controller.planner_options import CentroidalOptions
from robots.conventions import GRAVITY
from robots.legs import (
    Legs,
    foot_jacobians_in_base,
    foot_positions_in_base,
    inverse_kinematics,
)
from robots.pinocchio_model import load_pinocchio
from robots.robot import Robot
from robots.rotations import (
    Array,
    exp3,
    quaternion_from_rotation,
    quaternion_product,
    rotation_from_quaternion,
)
from robots.terrain import Ground
from runtime.messages import Plan, StateEstimate

FORCES_LAST_S = 0.1  # for which forces of an earlier solve will do [s]


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
    """The arrays of a Plan: q (N+1, 19), v (N+1, 18), torques (N, 12) [N m], gains (N, 12, 36)."""

    q: Array
    v: Array
    inputs: Array
    gains: Array


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


class CentroidalPlanner(Planner):
    """Plans from a state estimate: `solve(estimate) -> Plan`.

    Time zero of the path is the first estimate's time, and its clock is the estimates': how long a
    solve takes changes nothing in the schedule. The plan starts at its estimate.

    It is made in the path's axes, where the body's yaw is small, and turned back at the end.
    """

    def __init__(
        self, options: CentroidalOptions, robot: Robot, law: ForceLaw, path: Path,
        ground: Ground | None = None,
    ) -> None:  # fmt: skip
        """`law` chooses forces; `path` is what the robot is asked to do, on `ground` if any."""
        self.options, self.law, self.path = options, law, path
        self._body = standing_body(robot)
        self._observer = BodyObserver(robot)
        steps, self._robot, self._model = options.stepping, robot, load_pinocchio(robot)
        self._data = self._model.createData()
        self._stand_gain = joint_gain(steps.stance_kp, steps.stance_kd)
        self._swing_gain = joint_gain(steps.kp, steps.kd)
        self._stepper = Stepper(steps, robot, path.schedule, ground)
        self._origin: float | None = None
        self._heading = 0.0  # of the path's axes [rad]
        self._solved = -np.inf  # time of the last estimate from which a QP was solved in time [s]
        self._count = 0

    @property
    def commands(self) -> CommandIntake | None:
        """See the path's."""
        return self.path.commands

    def solve(
        self,
        estimate: StateEstimate,
        lead: float = 0.0,
        out_of_time: Callable[[], bool] | None = None,
        on_plan: Callable[[Plan], None] | None = None,
    ) -> Plan:
        """Plan from an estimate.

        Args:
            estimate: the state to plan from.
            lead, out_of_time, on_plan: of the planners' common interface; a QP is too short a
                matter for them.

        Returns:
            The plan; "time_limit" has the forces of an earlier solve. "failed" when the estimate is
            not finite, overflows on the way, or the QP had no solution or came too late for longer
            than forces last; then nothing should follow it.
        """
        q, v = np.array(estimate.q), np.array(estimate.v)
        if not (np.isfinite(q).all() and np.isfinite(v).all() and np.isfinite(estimate.time)):
            return self._plan(estimate, "failed", 0, _still(self.options), None)
        if self.ground_estimate is not None:
            self.ground_estimate.follow(estimate)
        now = self._situation(estimate, q, v)
        answer = self.law.forces(now)
        feet = self._schedule(now, answer)
        try:
            knots = self._knots(now, feet)
        except np.linalg.LinAlgError:  # the compiled solvers raise for what is not finite
            return self._plan(estimate, "failed", answer.iterations, _still(self.options), None)
        if self._heading:
            knots.q[:] = _turned(knots.q, self._heading)
        status = self._judged(answer.status, estimate.time)
        return self._plan(estimate, status, answer.iterations, knots, feet.contacts)

    def _judged(self, status: Status, time: float) -> Status:
        """A QP's status at `time` [s]; one that comes too late time after time has failed."""
        if status == "ok":
            self._solved = time
        elif status == "time_limit" and time - self._solved > FORCES_LAST_S:
            return "failed"
        return status

    def _situation(self, estimate: StateEstimate, q: Array, v: Array) -> Situation:
        body = self._observer.observe(q, v)
        self._origin = estimate.time if self._origin is None else self._origin
        time = estimate.time - self._origin
        self.path.meet(time, np.concatenate([q, v]), body.com)
        if self.path.heading != self._heading:
            self._stepper.turn(_yaw(self._heading - self.path.heading))
            self._heading = self.path.heading
        body = body.turned(_yaw(-self._heading)) if self._heading else body
        touching = np.array(estimate.contact)
        standing = self._stepper.observe(time, body.feet, touching)
        inertia = body.rotation @ self._body.inertia_in_base @ body.rotation.T
        return Situation(time, body, inertia, standing, touching, self.path, self._stepper)

    def _schedule(self, now: Situation, answer: Forces) -> FootSchedule:
        """Contacts, forces and foot motions at the knots of the plan."""
        count, period = self.options.knots, self.options.period
        contacts, forces = np.zeros((count, 4)), np.zeros((count, 4, 3))
        motions = np.zeros((2, count + 1, 4, 3))
        holds = foothold_table(now)
        for k in range(count + 1):
            time = now.time + k * period
            step = min(int((k + 0.5) * period / answer.step), len(answer.forces) - 1)
            for foot in range(4):
                swing = now.stepper.swing(foot, time + 0.5 * period, now.time)
                if k < count and swing is None:
                    contacts[k, foot] = 1.0
                    forces[k, foot] = answer.forces[step, foot]
                motions[:, k, foot] = foot_motion(now, holds, foot, time)
        return FootSchedule(contacts, forces, motions[0], motions[1])

    def _knots(self, now: Situation, feet: FootSchedule) -> Knots:
        """The knots that begin now: tau = (M a + h)_joints - J' f, and joint feedback."""
        q, v, base = follow_body(
            self._robot.legs, now.body.rotation, now.body.base, now.body.com,
            now.body.com_velocity, now.body.angular_velocity, feet.positions, feet.velocities,
            feet.forces, self._body.mass, now.inertia, self.options.period,
        )  # fmt: skip
        inputs = np.array([self._torque(q, v, base, feet, k) for k in range(len(feet.forces))])
        standing = np.repeat(feet.contacts, 3, axis=1)[:, :, None] > 0.5
        return Knots(q, v, inputs, np.where(standing, self._stand_gain, self._swing_gain))

    def _torque(self, q: Array, v: Array, base: Array, feet: FootSchedule, k: int) -> Array:
        """Joint torques of knot k (12,) [N m]: the legs' inverse dynamics and the feet's forces."""
        swings, most = np.repeat(feet.contacts[k] < 0.5, 3), self._robot.torque_limit
        change = (v[k + 1] - v[k])[6:] / self.options.period
        a = np.concatenate([base[k], np.where(swings, change, 0.0)])
        torque = pin.rnea(self._model, self._data, q[k], v[k], a)[6:]
        return np.clip(torque - foot_torques(self._robot.legs, q[k], feet.forces[k]), -most, most)

    def _plan(
        self, estimate: StateEstimate, status: Status, iterations: int, knots: Knots,
        contacts: Array | None,
    ) -> Plan:  # fmt: skip
        """The message; numbers that are not finite make it "failed"."""
        finite = all(np.isfinite(array).all() for array in knots)
        status = status if finite else "failed"
        knots = knots if finite else _still(self.options)
        contacts = np.ones((len(knots.inputs), 4)) if contacts is None else contacts
        self._count += 1
        return Plan(
            id=self._count, tick=estimate.tick, time=estimate.time, period=self.options.period,
            states_q=knots.q, states_v=knots.v, inputs=knots.inputs, gains=knots.gains,
            contacts=contacts, cost=0.0, iterations=iterations, solve_s=0.0, status=status,
            command=sequence_of(self.commands),
        )  # fmt: skip


def _yaw(angle: float) -> Array:
    """Rotation about the vertical by an angle [rad] (3, 3)."""
    return exp3(np.array([0.0, 0.0, angle]))


def _turned(q: Array, angle: float) -> Array:
    """Configurations (K, 19), turned about the world's origin by an angle [rad]."""
    turn, result = _yaw(angle), q.copy()
    quaternion = quaternion_from_rotation(turn)
    result[:, :3] = q[:, :3] @ turn.T
    for row in result:
        row[3:7] = quaternion_product(quaternion, row[3:7])
    return result


def _still(options: CentroidalOptions) -> Knots:
    """Knots of a plan that must not be followed."""
    q = np.zeros((options.knots + 1, 19))
    q[:, 6] = 1.0
    return Knots(q, np.zeros((options.knots + 1, 18)), np.zeros((options.knots, 12)),
                 np.zeros((options.knots, 12, 36)))  # fmt: skip
