"""Convex MPC: the forces of a horizon of one rigid body, contacts as the gait schedules them.

J. Di Carlo, P. Wensing, B. Katz, G. Bledt, S. Kim, "Dynamic locomotion in the MIT Cheetah 3 through
convex model-predictive control", IROS 2018.

Minimise  sum_k |x_k - x_ref_k|_Q^2 + alpha |f_k - f_ref_k|^2  subject to the rigid body's dynamics
and the limits of friction, about the ground's normal below each foot. f_ref shares the weight
evenly among the feet in contact, so that what forces cost does not make the body sag.

The matrices are sparse: forces and states of every step are variables z = [f_0, x_1, f_1, x_2, ...]
(24 N), f_k (12) in units of a given force and along the axes R of the ground's surface below each
foot. The rows are the dynamics x_{k+1} - A x_k - B_k R_k f_k = c_k (12 N), then those of friction.
Only what depends on the step is written anew. Measured against eliminating the states: a solve with
dense factors takes about twice as long.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from controller.centroidal.path import Path
from controller.centroidal.planner import CentroidalPlanner
from controller.centroidal.qp import (
    ForceLimits,
    ForceProblem,
    Status,
    friction_rows,
    level_frames,
    limits_of,
)
from controller.centroidal.rigid_body import SingleRigidBody, invert_symmetric, standing_body
from controller.centroidal.stepping import Forces, Situation, foot_motion, foothold_table
from controller.planner_options import ConvexMpcOptions, ForceMpcWeights
from robots.conventions import GRAVITY
from robots.robot import Robot
from robots.rotations import Array
from robots.terrain import Ground

STAGE = 24  # variables of a step: 12 of forces, then 12 of the state after it


def constraint_pattern(steps: int, friction: float, level: bool = True) -> sparse.csc_matrix:
    """The constraints' matrix (32 N, 24 N): friction and states in place, 1 where forces act.

    On `level` ground a force accelerates the body along its own axis alone.
    """
    linear = np.tile(np.eye(3) if level else np.ones((3, 3)), 4)
    inputs = np.tile(np.vstack((np.ones((3, 12)), linear)), (2, 1))
    limits = friction_rows(4, friction).toarray()
    now = np.vstack((np.hstack((inputs, np.eye(12))), np.hstack((limits, np.zeros((20, 12))))))
    before = np.zeros((32, STAGE))
    before[:12, 12:] = -np.eye(12) - np.eye(12, k=6)
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


class ForcePlan(NamedTuple):
    """The result of a solve.

    Attributes:
        forces: (N, 4, 3) [N] on the robot, in the world; always finite and within their limits.
        status: "ok"; "time_limit" and "failed" come with the last good forces, as far as the
            contacts allow them.
        iterations: of the solver.
    """

    forces: Array
    status: Status
    iterations: int


class ForceMpc:
    """Convex MPC's problem: set up once, its numbers updated at each solve."""

    def __init__(
        self, body: SingleRigidBody, steps: int, weights: ForceMpcWeights, limits: ForceLimits,
        time_limit: float = 0.0, level: bool = True,
    ) -> None:  # fmt: skip
        """Set up for a horizon of `steps`.

        Args:
            limits: of the forces.
            time_limit: the solver gives up after it [s]; 0: never.
            level: whether the ground is; then the matrices have fewer numbers.
        """
        self._mass, self._steps, self._level = body.mass, steps, level
        self._weights, self._force_weight = np.array(weights.state_weights()), weights.force
        self._unit = body.mass * GRAVITY  # of the solver's forces [N]
        pattern = constraint_pattern(steps, limits.friction, level)
        self._qp = ForceProblem(
            cost_matrix(steps, self._weights, self._force_weight, self._unit), pattern,
            "constraints", limits, self._unit, time_limit,
        )  # fmt: skip
        # Of each number in the constraints: the step of its row and of its column, and its place.
        rows, columns = pattern.indices, np.arange(STAGE * steps)
        columns = np.repeat(columns, np.diff(pattern.indptr))
        step, later = columns // STAGE, rows // 12
        self._entries = step, rows % 12, columns % STAGE
        moves = rows < 12 * steps
        self._inputs = np.flatnonzero(moves & (columns % STAGE < 12))
        self._drift = np.flatnonzero(moves & (later > step) & (rows % 12 < columns % STAGE - 12))
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
            frames = level_frames((self._steps, 4))
        durations, qp = np.broadcast_to(dt, self._steps), self._qp
        with np.errstate(all="ignore"):  # what is not finite is found below
            inverse = invert_symmetric(inertia_in_world)
            given = x0, x_ref, arms, contacts, inverse, durations, frames
            if not all(np.isfinite(each).all() for each in given) or durations.min() <= 0.0:
                return ForcePlan(qp.clipped(self._last, contacts, frames), "failed", 0)
            self._write(*given)
        solution = qp.solve(contacts)
        if solution.status == "ok":
            forces = solution.x.reshape(self._steps, STAGE)[:, :12]
            self._last = self._unit * forces.reshape(self._steps, 4, 3)
        forces = qp.clipped(self._last, contacts, frames)
        return ForcePlan(forces, solution.status, solution.iterations)

    def _write(
        self, x0: Array, x_ref: Array, arms: Array, contacts: Array, inverse: Array, dt: Array,
        frames: Array,
    ) -> None:  # fmt: skip
        """Write the problem's numbers: dynamics with their constant part c_k, and the cost.

        The force of a foot in the air moves nothing, and none is asked of it; the others are to
        share the weight.
        """
        qp, unit, on = self._qp, self._unit, contacts > 0.5
        gain, half = dt[:, None, None, None], (0.5 * dt * dt)[:, None, None, None]
        share = np.where(on, unit, 0.0)[:, :, None, None]
        turning = np.cross(inverse, arms[:, :, None, :])  # d w' / d f (N, 4, 3, 3)
        turn = sum(turning[..., i, None] * frames[..., i, None, :] for i in range(3))
        blocks = [
            each for g in (half, gain)
            for each in (-g * share * turn, -g * share * frames / self._mass)
        ]  # fmt: skip
        inputs = np.concatenate(blocks, axis=2).swapaxes(1, 2).reshape(-1, 12, 12)
        step, row, column = (each[self._inputs] for each in self._entries)
        qp.constraints[self._inputs] = inputs[step, row, column]
        qp.constraints[self._drift] = -dt[self._entries[0][self._drift] + 1]
        constant = np.zeros((len(dt), 12))
        constant[:, 5], constant[:, 11] = -0.5 * GRAVITY * dt * dt, -GRAVITY * dt
        constant[0] += x0 + np.append(dt[0] * x0[6:], np.zeros(6))
        qp.lower[: constant.size] = qp.upper[: constant.size] = constant.ravel()
        stages = qp.gradient.reshape(-1, STAGE)
        evenly = self._unit / np.maximum(on.sum(axis=1), 1)[:, None, None]
        wanted = -self._force_weight * unit * evenly * frames[:, :, 2]
        stages[:, :12] = np.where(on[:, :, None], wanted, 0.0).reshape(-1, 12)
        stages[:, 12:] = -self._weights * x_ref


class HorizonForces:
    """The force law of Convex MPC."""

    def __init__(
        self, options: ConvexMpcOptions, robot: Robot, time_limit: float, level: bool = True
    ) -> None:
        """`time_limit` of the QP [s], 0 for none; `level`: whether the ground is known to be."""
        self._options = options
        self._mpc = ForceMpc(
            standing_body(robot), options.steps, options.weights, limits_of(options), time_limit,
            level,
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
        """Places of the feet in the middle of each step [s]: (K, 4, 3) [m]."""
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
