"""Convex MPC: the forces of a horizon of one rigid body, contacts as the gait schedules them.

J. Di Carlo, P. Wensing, B. Katz, G. Bledt, S. Kim, "Dynamic locomotion in the MIT Cheetah 3 through
convex model-predictive control", IROS 2018.

Minimise  sum_k |x_k - x_ref_k|_Q^2 + alpha |f_k - f_ref_k|^2  subject to the rigid body's dynamics
and the limits of friction, about the ground's normal below each foot. f_ref shares the weight
evenly among the feet in contact, so that what forces cost does not make the body sag.

The matrices are sparse: forces and states of every step are variables z = [f_0, x_1, f_1, x_2, ...]
(24 N), f_k (12) in units of a given force and along the axes R of the ground's surface below each
foot. The rows are the dynamics x_{k+1} - A x_k - B_k R_k f_k = c_k (12 N), then those of friction.
Only what depends on the step is written anew, column by column in the order of the solver's values.
Measured against eliminating the states: a solve with dense factors takes about twice as long.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

from controller.centroidal.path import Path
from controller.centroidal.planner import CentroidalPlanner
from controller.centroidal.qp import (
    Status,
    UpdatedQp,
    along_axes,
    check_limits,
    clip_forces,
    friction_bounds,
    friction_rows,
    level_frames,
)
from controller.centroidal.rigid_body import (
    SingleRigidBody,
    angular_input_map,
    invert_symmetric,
    roll_out,
    standing_body,
)
from controller.centroidal.stepping import Forces, Situation, foot_motion, foothold_table
from controller.planner_options import ConvexMpcOptions, ForceMpcWeights
from robots.conventions import GRAVITY
from robots.robot import Robot
from robots.terrain import Ground

Array = NDArray[np.float64]

STAGE = 24  # variables of a step: 12 of forces, then 12 of the state after it


def constraint_pattern(steps: int, friction: float, level: bool = True) -> sparse.csc_matrix:
    """The constraints' matrix (32 N, 24 N): its friction in place, ones in the dynamics.

    On `level` ground a force accelerates the body along its own axis alone.
    """
    linear = np.tile(np.eye(3) if level else np.ones((3, 3)), 4)
    inputs = np.tile(np.vstack((np.ones((3, 12)), linear)), (2, 1))
    motion = np.eye(12) + np.eye(12, k=6)
    limits = friction_rows(4, friction).toarray()
    now = np.vstack((np.hstack((inputs, np.eye(12))), np.hstack((limits, np.zeros((20, 12))))))
    before = np.zeros((32, STAGE))
    before[:12, 12:] = motion
    stages = np.kron(np.eye(steps), now) + np.kron(np.eye(steps, k=-1), before)
    rows = stages.reshape(steps, 32, -1)
    dynamics, pyramids = rows[:, :12].reshape(12 * steps, -1), rows[:, 12:]
    return sparse.csc_matrix(np.vstack((dynamics, pyramids.reshape(20 * steps, -1))))


def cost_matrix(steps: int, weights: Array, force_weight: float, unit: float) -> sparse.csc_matrix:
    """The diagonal P (24 N, 24 N) for weights of the state (12,) and of forces [1/N^2]."""
    stage = np.concatenate((np.full(12, force_weight * unit * unit), weights))
    size = STAGE * steps
    # Zero weights are kept, as values: the pattern is the same for all weights.
    return sparse.csc_matrix((np.tile(stage, steps), np.arange(size), np.arange(size + 1)))


@njit(cache=True)
def write_constraints(
    arms: Array, contacts: Array, frames: Array, level: bool, inverse_inertia: Array, dt: Array,
    mass: float, unit: float, values: Array,
) -> None:  # fmt: skip
    """Write the dynamics into the values of `constraint_pattern`.

    Args:
        arms: (N, 4, 3) [m]; contacts: (N, 4), the force of a foot in the air moves nothing.
        frames: R (N, 4, 3, 3); level: as of the pattern, and then R is the identity.
        inverse_inertia: in the world (3, 3) [1/(kg m^2)]; dt: (N,) [s]; mass: [kg].
        unit: of the forces [N].
    """
    steps, cursor = dt.size, 0
    angular = np.empty((3, 12))
    for k in range(steps):
        angular_input_map(arms[k], inverse_inertia, angular)
        for column in range(12):
            foot, axis = column // 3, column % 3
            share = unit if contacts[k, foot] > 0.5 else 0.0
            x, y, z = frames[k, foot, :, axis]
            for gain in (0.5 * dt[k] * dt[k], dt[k]):
                for row in range(3):
                    a, b, c = angular[row, 3 * foot : 3 * foot + 3]
                    values[cursor + row] = -gain * share * (a * x + b * y + c * z)
                cursor += 3
                for row in range(3):
                    if row == axis or not level:
                        values[cursor] = -gain * share * frames[k, foot, row, axis] / mass
                        cursor += 1
            cursor += 5 if axis == 2 else 2  # rows of friction
        for column in range(12):
            cursor += 1  # one, for the state after the step
            if k + 1 < steps:
                if column >= 6:
                    values[cursor] = -dt[k + 1]
                    cursor += 1
                values[cursor] = -1.0
                cursor += 1


@njit(cache=True)
def write_dynamics_bounds(x0: Array, dt: Array, lower: Array, upper: Array) -> None:
    """Write c_k (12 N,), where the rows of the dynamics begin, for the state now (12,)."""
    for k in range(dt.size):
        row = 12 * k
        lower[row : row + 12] = 0.0
        lower[row + 5], lower[row + 11] = -0.5 * GRAVITY * dt[k] * dt[k], -GRAVITY * dt[k]
    for i in range(12):
        lower[i] += x0[i] + (dt[0] * x0[i + 6] if i < 6 else 0.0)
    upper[: 12 * dt.size] = lower[: 12 * dt.size]


@njit(cache=True)
def write_gradient(
    x_ref: Array, contacts: Array, frames: Array, weights: Array, force_weight: float,
    weight: float, unit: float, gradient: Array,
) -> None:  # fmt: skip
    """Write q (24 N,): desired states (N, 12), and vertical forces that share `weight` [N] evenly.

    `frames` are the axes of the forces (N, 4, 3, 3). Where no foot is in contact no force is asked
    for.
    """
    for k in range(x_ref.shape[0]):
        stage = STAGE * k
        standing = (contacts[k] > 0.5).sum()
        gradient[stage : stage + 12] = 0.0
        for foot in range(4):
            if contacts[k, foot] > 0.5:
                share = weight / standing
                for axis in range(3):
                    up = frames[k, foot, 2, axis]
                    gradient[stage + 3 * foot + axis] = -force_weight * unit * share * up
        for i in range(12):
            gradient[stage + 12 + i] = -weights[i] * x_ref[k, i]


class ForcePlan(NamedTuple):
    """What a solve gives.

    Attributes:
        forces: (N, 4, 3) [N] on the robot, in the world; always finite and within their limits.
        states: (N, 12) predicted after each step; zero where the inputs were not finite.
        status: "ok"; "time_limit" and "failed" come with the last good forces, as far as the
            contacts allow them.
        iterations: of the solver.
    """

    forces: Array
    states: Array
    status: Status
    iterations: int


class ForceMpc:
    """Convex MPC's problem: set up once, its numbers updated at each solve.

    Attributes:
        qp: with the numbers of the last solve.
    """

    def __init__(
        self, body: SingleRigidBody, steps: int, weights: ForceMpcWeights, friction: float,
        force_max: float, force_min: float = 0.0, time_limit: float = 0.0, level: bool = True,
    ) -> None:  # fmt: skip
        """Set up for a horizon of `steps`.

        Args:
            friction: coefficient of the pyramid's sides [-].
            force_max, force_min: limits of the normal force of a foot in contact [N].
            time_limit: the solver gives up after it [s]; 0: never.
            level: whether the ground is; then the matrices have fewer numbers.

        Raises:
            ValueError: limits that no force could keep, or no step.
        """
        check_limits(friction, force_max, force_min)
        if steps < 1:
            raise ValueError(f"steps is {steps}; give 1 or more")
        self.body, self.steps, self._level = body, steps, level
        self._limits = (friction, force_min, force_max)
        self._weights, self._force_weight = np.array(weights.state_weights()), weights.force
        self._weight = body.mass * GRAVITY  # also the unit of the solver's forces
        self.qp = UpdatedQp(
            cost_matrix(steps, self._weights, self._force_weight, self._weight),
            constraint_pattern(steps, friction, level), "constraints", time_limit,
        )  # fmt: skip
        self._last = np.zeros((steps, 4, 3))  # along the axes of the ground's surface

    def solve(
        self, x0: Array, x_ref: Array, arms: Array, contacts: Array, inertia_in_world: Array,
        dt: float | Array, frames: Array | None = None,
    ) -> ForcePlan:  # fmt: skip
        """Find the forces of N steps; never raises for what the numbers are.

        Args:
            x0: state now (12,); x_ref: desired after each step (N, 12).
            arms: from the centre of mass to the feet, in the world (N, 4, 3) [m].
            contacts: (N, 4), a foot stands where above 0.5.
            inertia_in_world: about the centre of mass (3, 3) [kg m^2].
            dt: duration of the steps, one for all or one each (N,) [s].
            frames: axes of the ground's surface below the feet, in the world (N, 4, 3, 3); None
                where the ground is level, and there alone.
        """
        if frames is None or self._level:
            frames = level_frames((self.steps, 4))
        # Copies: what is compiled then sees one kind of array, whatever the caller's are.
        x0, x_ref, arms, contacts, inertia, frames = (
            np.array(each, dtype=float)
            for each in (x0, x_ref, arms, contacts, inertia_in_world, frames)
        )
        durations = np.array(np.broadcast_to(dt, self.steps), dtype=float)
        inverse = invert_symmetric(inertia)
        inputs = (x0, x_ref, arms, contacts, inverse, durations, frames)
        if not all(np.isfinite(each).all() for each in inputs) or durations.min() <= 0.0:
            return ForcePlan(
                self._clipped(contacts, frames), np.zeros((self.steps, 12)), "failed", 0
            )
        self._write(*inputs)
        solution = self.qp.solve()
        if solution.status == "ok":
            forces = solution.x.reshape(self.steps, STAGE)[:, :12]
            self._last = self._weight * forces.reshape(self.steps, 4, 3)
        forces = self._clipped(contacts, frames)
        states = np.empty((self.steps, 12))
        roll_out(x0, forces, arms, self.body.mass, inverse, durations, states)
        return ForcePlan(forces, states, solution.status, solution.iterations)

    def _write(
        self, x0: Array, x_ref: Array, arms: Array, contacts: Array, inverse: Array, dt: Array,
        frames: Array,
    ) -> None:  # fmt: skip
        """Write the problem's numbers."""
        qp, mass, unit = self.qp, self.body.mass, self._weight
        _, force_min, force_max = self._limits
        rows = 12 * self.steps
        write_constraints(
            arms, contacts, frames, self._level, inverse, dt, mass, unit, qp.constraints
        )
        write_dynamics_bounds(x0, dt, qp.lower, qp.upper)
        friction_bounds(
            contacts.ravel(), force_min / unit, force_max / unit, qp.lower[rows:], qp.upper[rows:]
        )
        write_gradient(
            x_ref, contacts, frames, self._weights, self._force_weight, self._weight, unit,
            qp.gradient,
        )  # fmt: skip

    def _clipped(self, contacts: Array, frames: Array) -> Array:
        """The last good forces, in the world."""
        forces = self._last.copy()
        clip_forces(forces.reshape(-1, 3), contacts.ravel(), *self._limits)
        return along_axes(frames, forces)


class HorizonForces:
    """The force law of Convex MPC."""

    def __init__(
        self, options: ConvexMpcOptions, robot: Robot, time_limit: float, level: bool = True
    ) -> None:
        """`time_limit` of the QP [s], 0 for none; `level`: whether the ground is known to be."""
        self._options = options
        self._mpc = ForceMpc(
            standing_body(robot), options.steps, options.weights, options.friction,
            options.force_max, options.force_min, time_limit, level,
        )  # fmt: skip

    def forces(self, now: Situation) -> Forces:
        """Solve for the horizon from the present state."""
        o = self._options
        ends: Array = now.time + o.step * np.arange(1.0, o.steps + 1.0)
        x_ref = now.path.states(now.time, now.body.com, ends)
        contacts = np.array([
            [now.stepper.swing(foot, end - 0.5 * o.step, now.time) is None for foot in range(4)]
            for end in ends
        ], dtype=float)  # fmt: skip
        middles = ends - 0.5 * o.step
        feet = self._feet(now, middles)
        com = now.path.states(now.time, now.body.com, middles)[:, 3:6]
        plan = self._mpc.solve(
            now.body.vector(), x_ref, feet - com[:, None, :], contacts, now.inertia, o.step,
            now.stepper.surface_frames(feet),
        )  # fmt: skip
        return Forces(plan.forces, o.step, plan.status, plan.iterations)

    def _feet(self, now: Situation, middles: Array) -> Array:
        """Where the feet are in the middle of each step [s]: (K, 4, 3) [m]."""
        holds = foothold_table(now)
        feet = [[foot_motion(now, holds, foot, t)[0] for foot in range(4)] for t in middles]
        return np.array(feet)


def convex_mpc(
    options: ConvexMpcOptions, robot: Robot, path: Path, in_real_time: bool,
    ground: Ground | None = None,
) -> CentroidalPlanner:  # fmt: skip
    """The planner along a path, on `ground` if any; lock step knows no time limit."""
    limit = options.time_limit if in_real_time else 0.0
    law = HorizonForces(options, robot, limit, ground is None)
    return CentroidalPlanner(options, robot, law, path, ground)
