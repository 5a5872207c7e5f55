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
from controller.centroidal.rigid_body import standing_body
from controller.centroidal.stepping import Forces, Situation
from controller.planner_options import BodyFeedback, ForceQpWeights, InstantQpOptions
from robots.conventions import GRAVITY
from robots.robot import Robot
from robots.rotations import Array
from robots.terrain import Ground

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
    """Instant QP's problem: set up once, its numbers updated at each solve."""

    def __init__(
        self, limits: ForceLimits, weights: ForceQpWeights, time_limit: float = 0.0
    ) -> None:
        """Set up with `limits` of the forces; `time_limit` [s], 0 for none."""
        self._weights = weights
        triangle = sparse.csc_matrix(np.triu(np.ones((12, 12))))
        rows = friction_rows(4, limits.friction)
        self._qp = ForceProblem(triangle, rows, "hessian", limits, UNIT, time_limit)
        self._last = np.zeros((4, 3))  # along the axes of the ground's surface

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
        frames, qp = level_frames((4,)) if frames is None else frames, self._qp
        if not all(np.isfinite(each).all() for each in (wrench, arms, contacts, frames)):
            return ForceSolution(qp.clipped(self._last, contacts, frames), "failed", 0)
        if not (contacts > 0.5).any():
            self._last = np.zeros((4, 3))
            return ForceSolution(np.zeros((4, 3)), "ok", 0)
        with np.errstate(all="ignore"):  # the solver is not given what is not finite
            self._write(wrench, arms, contacts, frames)
        solution = qp.solve(contacts)
        if solution.status == "ok":
            self._last = qp.clip(UNIT * solution.x.reshape(4, 3), contacts)
        forces = qp.clipped(self._last, contacts, frames)
        return ForceSolution(forces, solution.status, solution.iterations)

    def _write(self, wrench: Array, arms: Array, contacts: Array, frames: Array) -> None:
        """Write upper triangle and gradient; columns of A R of feet in the air are zero."""
        o, on = self._weights, np.repeat(contacts > 0.5, 3)
        axes = frames.swapaxes(1, 2)
        forward = np.concatenate((axes, np.cross(arms[:, None], axes)), axis=2).reshape(12, 6)
        forward[~on] = 0.0
        hessian, gradient = (o.force + o.change) * np.eye(12), -o.change * UNIT * self._last.ravel()
        gradient[~on] = 0.0
        for column, weight, wanted in zip(forward.T, o.wrench, wrench, strict=True):
            gradient -= UNIT * column * weight * wanted
            hessian += (weight * column) * column[:, None]
        self._qp.gradient[:] = gradient
        self._qp.hessian[:] = UNIT * UNIT * hessian[np.tril_indices(12)]


class InstantForces:
    """The force law of Instant QP."""

    def __init__(self, options: InstantQpOptions, robot: Robot, time_limit: float) -> None:
        """`time_limit` of the QP [s], 0 for none."""
        self._options = options
        self._mass = standing_body(robot).mass
        self._qp = ForceQp(limits_of(options), options.weights, time_limit)

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
