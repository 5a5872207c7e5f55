"""MPPI: samples splines of joint targets around the last plan and weighs them by their cost.

G. Williams, A. Aldrich, E. Theodorou, Model Predictive Path Integral Control, 2017; splines of
joint targets as on hardware in arXiv 2409.10469. The costs are divided by their standard deviation
first, as in DIAL-MPC (arXiv 2409.15610), so that one temperature suits every situation.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.interpolate import CubicSpline

from controller.motor_targets import joint_gain
from controller.planner_options import MppiOptions
from controller.references.trajectory import Reference, ReferenceWindow
from controller.rigid_derivatives import RigidDerivatives
from controller.robot_model import RobotModel, RolloutBackend
from controller.rollout_planner import OutOfTime, RolloutPlanner, Solution
from robots.robot import Robot
from robots.rotations import Array
from saltation.hilqr import Policies, Trajectory


class MppiPlanner(RolloutPlanner):
    """Improves its policy by MPPI; the plan's feedback is a PD law of the joints."""

    def __init__(
        self, options: MppiOptions, robot: Robot, reference: Reference, backend: RolloutBackend
    ) -> None:
        """Plan on `backend` along a `reference`."""
        rigid = RigidDerivatives(robot, options.period)
        model = RobotModel(robot, backend, rigid, options.cost)
        super().__init__(options, model, reference, backend)
        self.options = options
        law = joint_gain(options.kp, options.kd)
        self._gains = np.tile(law, (options.samples, options.knots, 1, 1))
        self._basis = spline_basis(options.knots, options.period, options.spline)
        self._noise = np.tile(options.noise, 4)
        self._random = np.random.default_rng(options.seed)

    def _window(self, start: int, x0: Array) -> ReferenceWindow:
        """The reference with the PD law in place of its gains."""
        return super()._window(start, x0)._replace(gains=self._gains[0])

    def _improve(
        self, x0: Array, seed: Solution, out_of_time: OutOfTime | None
    ) -> Iterator[Solution]:
        best = seed
        for count in range(1, self.options.iterations + 1):
            if count > 1 and out_of_time is not None and out_of_time():
                return
            mean = self._iterate(x0, best)
            if mean is None:
                return
            best = mean._replace(iterations=count, status="ok")
            yield best

    def _iterate(self, x0: Array, best: Solution) -> Solution | None:
        """The weighted mean of samples around a solution, or the cheapest one where that is worse.

        None where no sample stays finite.
        """
        options, trajectory = self.options, best.trajectory
        targets = self._noise * self._random.standard_normal(
            (options.samples, self._basis.shape[1], 12)
        )
        torques = options.kp * np.einsum("ks,csj->ckj", self._basis, targets)
        samples = self.model.roll_out(x0, self._policies(trajectory, torques))
        cost = samples.valid_costs()
        cheapest = samples.best()
        found = None if cheapest is None else samples.select(cheapest)
        if found is None:
            return None
        mean = np.tensordot(weights(cost, options.temperature), torques, 1)
        other = self.model.roll_out(x0, self._policies(trajectory, mean[None]))
        if other.best() is not None and other.cost[0] < found.cost:
            found = other.select(0)
        if trajectory.cost < found.cost:
            found = trajectory
        return best._replace(trajectory=found)

    def _policies(self, around: Trajectory, feedforward: Array) -> Policies:
        """A candidate for each change of the torques (C, N, 12) of a trajectory."""
        count = len(feedforward)
        states, inputs = around.states[None], around.inputs[None]
        return Policies(
            np.repeat(states, count, 0), np.repeat(inputs, count, 0), feedforward,
            self._gains[:count], np.arange(count), np.ones(count),
        )  # fmt: skip


def spline_basis(knots: int, period: float, spacing: float) -> Array:
    """Weight of each point of a cubic spline at each knot (N, S)."""
    end = (knots - 1) * period
    points = np.linspace(0.0, end, max(2, round(end / spacing) + 1))
    return CubicSpline(points, np.eye(len(points)))(period * np.arange(knots))


def weights(cost: Array, temperature: float) -> Array:
    """Weights (C,) of samples by their costs, of which one at least is finite; their sum is 1."""
    finite = np.isfinite(cost)
    spread = float(np.std(cost[finite])) or 1.0
    exponents = np.where(finite, -(cost - cost[finite].min()) / (temperature * spread), -np.inf)
    shares = np.exp(exponents)
    return shares / shares.sum()
