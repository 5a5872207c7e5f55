"""Instant QP: the forces of one instant, on the feet that are measured to be on the ground.

X. Da et al., "Learning a contact-adaptive controller for robust, efficient legged locomotion"
(2020); Z. Xie et al., "GLiDE" (2021); C. Gehring et al., "Control of dynamic gaits for a
quadrupedal robot" (2013): a wanted acceleration of the body, and the contact forces that come
nearest to it.

Minimise  |A R f - b|_S^2 + alpha |f|^2 + beta |f - f_last|^2  within the limits of friction. The
forces f are along the axes R of the ground's surface below each foot, so that the limits stay as
they are; A R f is their wrench about the centre of mass.
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
from controller.centroidal.rigid_body import standing_body
from controller.centroidal.stepping import Forces, Situation
from controller.planner_options import BodyFeedback, ForceQpWeights, InstantQpOptions
from robots.conventions import GRAVITY
from robots.robot import Robot
from robots.terrain import Ground

Array = NDArray[np.float64]

UNIT = 100.0  # the solver's forces are in units of this [N], near what a foot carries
FEEDFORWARD_S = 0.01  # over which the path's acceleration is taken [s]


class ForceSolution(NamedTuple):
    """Forces (4, 3) [N] on the robot in the world, finite and within limits; how they were found.

    With a status other than "ok" they are the last good ones, as far as the contacts allow them.
    """

    forces: Array
    status: Status
    iterations: int


class ForceQp:
    """Instant QP's problem: set up once, its numbers updated at each solve.

    Attributes:
        qp: with the numbers of the last solve.
    """

    def __init__(
        self, friction: float, force_max: float, force_min: float = 0.0,
        weights: ForceQpWeights | None = None, time_limit: float = 0.0,
    ) -> None:  # fmt: skip
        """Set up with limits of friction [-] and normal force [N]; `time_limit` [s], 0 for none.

        Raises:
            ValueError: limits that no force could keep.
        """
        check_limits(friction, force_max, force_min)
        self._limits = (friction, force_min, force_max)
        self._weights = weights or ForceQpWeights()
        self._wrench_weights = np.array(self._weights.wrench)
        triangle = sparse.csc_matrix(np.triu(np.ones((12, 12))))
        self.qp = UpdatedQp(triangle, friction_rows(4, friction), "hessian", time_limit)
        self._last = np.zeros((4, 3))

    def solve(
        self, wrench: Array, arms: Array, contacts: Array, frames: Array | None = None
    ) -> ForceSolution:
        """Find the forces; never raises for what the numbers are.

        Args:
            wrench: desired force [N] and torque about the centre of mass [N m], in the world (6,).
            arms: from the centre of mass to the feet, in the world (4, 3) [m].
            contacts: (4,), a foot stands where above 0.5; all in the air: zeros, "ok".
            frames: axes of the ground's surface below the feet (4, 3, 3); None: it is level.
        """
        frames = level_frames((4,)) if frames is None else frames
        # Copies: what is compiled then sees one kind of array, whatever the caller's are.
        wrench, arms, contacts, frames = (
            np.array(each, dtype=float) for each in (wrench, arms, contacts, frames)
        )
        if not all(np.isfinite(each).all() for each in (wrench, arms, contacts, frames)):
            return ForceSolution(self._clipped(contacts, frames), "failed", 0)
        if not (contacts > 0.5).any():
            self._last = np.zeros((4, 3))
            return ForceSolution(np.zeros((4, 3)), "ok", 0)
        self._write(wrench, arms, contacts, frames)
        solution = self.qp.solve()
        if solution.status == "ok":
            self._last = self._clip(UNIT * solution.x.reshape(4, 3), contacts)
        forces = self._clipped(contacts, frames)
        return ForceSolution(forces, solution.status, solution.iterations)

    def _write(self, wrench: Array, arms: Array, contacts: Array, frames: Array) -> None:
        """Write the problem's numbers."""
        qp, options = self.qp, self._weights
        write_wrench_problem(
            wrench, arms, contacts, frames, self._last, self._wrench_weights, options.force,
            options.change, UNIT, qp.hessian, qp.gradient,
        )  # fmt: skip
        _, force_min, force_max = self._limits
        friction_bounds(contacts, force_min / UNIT, force_max / UNIT, qp.lower, qp.upper)

    def _clip(self, forces: Array, contacts: Array) -> Array:
        clip_forces(forces, contacts, *self._limits)
        return forces

    def _clipped(self, contacts: Array, frames: Array) -> Array:
        """The last good forces, in the world."""
        return along_axes(frames, self._clip(self._last.copy(), contacts))


@njit(cache=True)
def wrench_map(arms: Array, contacts: Array, frames: Array) -> Array:
    """A R (6, 12): force and torque about the centre of mass of stacked forces.

    They act on `arms` (4, 3) [m], along the axes of `frames` (4, 3, 3). Columns of feet in the air
    are zero.
    """
    result = np.zeros((6, 12))
    for foot in range(4):
        if contacts[foot] > 0.5:
            x, y, z = arms[foot]
            for axis in range(3):
                column = 3 * foot + axis
                a, b, c = frames[foot, :, axis]
                result[0, column], result[1, column], result[2, column] = a, b, c
                result[3, column] = y * c - z * b
                result[4, column] = z * a - x * c
                result[5, column] = x * b - y * a
    return result


@njit(cache=True)
def write_wrench_problem(
    wrench: Array, arms: Array, contacts: Array, frames: Array, last: Array,
    wrench_weights: Array, force: float, change: float, unit: float, hessian: Array,
    gradient: Array,
) -> None:  # fmt: skip
    """Write the upper triangle (78,) and the gradient (12,), for forces in units of `unit` [N]."""
    forward = wrench_map(arms, contacts, frames)
    entry = 0
    for column in range(12):
        foot, axis = column // 3, column % 3
        gradient[column] = -change * unit * last[foot, axis] if contacts[foot] > 0.5 else 0.0
        for row in range(6):
            gradient[column] -= unit * forward[row, column] * wrench_weights[row] * wrench[row]
        for other in range(column + 1):
            value = force + change if other == column else 0.0
            for row in range(6):
                value += wrench_weights[row] * forward[row, other] * forward[row, column]
            hessian[entry] = unit * unit * value
            entry += 1


class InstantForces:
    """The force law of Instant QP."""

    def __init__(self, options: InstantQpOptions, robot: Robot, time_limit: float) -> None:
        """`time_limit` of the QP [s], 0 for none."""
        self._options = options
        self._mass = standing_body(robot).mass
        self._qp = ForceQp(
            options.friction, options.force_max, options.force_min, options.weights, time_limit
        )

    def forces(self, now: Situation) -> Forces:
        """Solve for this instant."""
        wrench = wanted_wrench(self._options.feedback, now, self._mass)
        contacts = now.standing * (now.touching > 0.5)
        arms, frames = now.body.feet - now.body.com, now.stepper.surface_frames(now.body.feet)
        answer = self._qp.solve(wrench, arms, contacts, frames)
        forces, search = answer.forces.copy(), (now.standing > 0.5) & (contacts < 0.5)
        forces[search] = self._options.search * frames[search, :, 2]  # along the normal
        return Forces(forces[None], self._options.period, answer.status, answer.iterations)


def wanted_wrench(feedback: BodyFeedback, now: Situation, mass: float) -> Array:
    """Force [N] and moment about the centre of mass [N m] of the PD law (6,).

    The path's own acceleration is added: in a turn a velocity error alone would lag behind it.
    """
    x = now.body.vector()
    times = now.time + np.array([0.0, FEEDFORWARD_S])
    target, later = now.path.states(now.time, now.body.com, times)
    error, acceleration = target - x, (later - target)[6:] / FEEDFORWARD_S
    linear = error[9:12] * feedback.velocity_kd + acceleration[3:]
    linear[2] += error[5] * feedback.height_kp
    angular = error[:3] * feedback.orientation_kp + error[6:9] * feedback.orientation_kd
    angular += acceleration[:3]
    force = mass * (linear + np.array([0.0, 0.0, GRAVITY]))
    return np.concatenate([force, now.inertia @ angular])


def instant_qp(
    options: InstantQpOptions, robot: Robot, path: Path, in_real_time: bool,
    ground: Ground | None = None,
) -> CentroidalPlanner:  # fmt: skip
    """The planner along a path, on `ground` if any; lock step knows no time limit."""
    law = InstantForces(options, robot, options.time_limit if in_real_time else 0.0)
    return CentroidalPlanner(options, robot, law, path, ground)
