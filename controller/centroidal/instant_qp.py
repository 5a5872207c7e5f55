"""Instant QP: the forces of one instant, on the feet that are measured to be on the ground.

X. Da et al., "Learning a contact-adaptive controller for robust, efficient legged locomotion"
(2020); Z. Xie et al., "GLiDE" (2021); C. Gehring et al., "Control of dynamic gaits for a
quadrupedal robot" (2013): a wanted acceleration of the body, and the contact forces that come
nearest to it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from controller.centroidal.force_law import Forces, Situation
from controller.centroidal.force_qp import ForceQp
from controller.centroidal.options import BodyFeedback, InstantQpOptions
from controller.centroidal.path import Path
from controller.centroidal.planner import CentroidalPlanner
from controller.centroidal.rigid_body import standing_body
from robots.conventions import GRAVITY
from robots.robot import Robot
from robots.terrain import Ground

Array = NDArray[np.float64]

FEEDFORWARD_S = 0.01  # over which the path's acceleration is taken [s]


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
    """Force [N] and moment about the centre of mass [N m] that the PD law asks for (6,).

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
