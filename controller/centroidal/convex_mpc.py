"""Convex MPC: the forces of a horizon of one rigid body, contacts as the gait schedules them.

J. Di Carlo, P. Wensing, B. Katz, G. Bledt, S. Kim, "Dynamic locomotion in the MIT Cheetah 3 through
convex model-predictive control", IROS 2018.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from controller.centroidal.foot_motion import foot_motion, foothold_table
from controller.centroidal.force_law import Forces, Situation
from controller.centroidal.force_mpc import ForceMpc
from controller.centroidal.options import ConvexMpcOptions
from controller.centroidal.path import Path
from controller.centroidal.planner import CentroidalPlanner
from controller.centroidal.rigid_body import standing_body
from robots.robot import Robot
from robots.terrain import Ground

Array = NDArray[np.float64]


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
