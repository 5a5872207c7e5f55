"""HiLQR MPC (6.4): replans the next half second on the full hybrid dynamics, every time anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from controller.limits import Limits
from controller.planner_options import PlannerOptions
from controller.references.trajectory import Reference, ReferenceTrajectory
from controller.rigid_derivatives import RigidDerivatives
from controller.robot_model import Derivatives, RobotModel, RolloutBackend
from controller.rollout_planner import OutOfTime, RolloutPlanner, Solution
from robots.robot import Robot
from robots.rotations import Array
from robots.terrain import Ground
from runtime.messages import LineSearch, Plan, StateEstimate
from saltation.hilqr import (
    Hilqr,
    HilqrOptions,
    Policies,
    RegularisationOptions,
    Trajectory,
    backward_pass,
)
from saltation.hilqr.constraints import ConstrainedModel, Violation

LOAD = 30.0  # a normal force that stands for "in contact" when none was simulated [N]
DAMPING = 1e-6  # on the input Hessian, far below any input weight
_STATUS = {"converged": "ok", "improved": "ok", "rejected": "ok"}


def gains_along(reference: ReferenceTrajectory, model: RobotModel, horizon: int) -> Array:
    """The gains (K, 12, 36) along a reference, of one long backward pass over it.

    The recursion starts `horizon` knots and one loop beyond the last sample, far enough for the
    looped part's gains to have settled. Where it fails, the gains stay zero.

    Args:
        reference: samples that repeat; model: gives dynamics and cost.
        horizon: knots beyond the end at which the recursion starts.
    """
    window = reference.window(0, reference.size + reference.loop + horizon)
    model.track(window)
    states = np.hstack([window.q, window.v])
    trajectory = Trajectory(states, window.inputs, 0.0, LOAD * window.contacts[:-1])
    linear, cost = model.linearise(trajectory), model.quadratise(trajectory)
    result = backward_pass(linear, cost, 0.0, DAMPING)
    if not result.ok:
        return np.zeros((reference.size, 12, 36))
    return result.gains[: reference.size].copy()


class HilqrPlanner(RolloutPlanner):
    """Improves its policy by HiLQR: backward passes, and line searches in parallel.

    Attributes:
        line_search: costs of all candidates of the last solve; None before the first one and after
            one that failed or searched no line.
    """

    def __init__(
        self,
        options: PlannerOptions,
        robot: Robot,
        reference: Reference,
        backend: RolloutBackend,
        derivatives: Derivatives,
        ground: Ground | None = None,
    ) -> None:
        """Precompute the reference's gains.

        Args:
            options: of the planner.
            robot: that is planned for.
            reference: what is to be tracked.
            backend: simulates candidates in parallel.
            derivatives: of the backward pass. The reference's gains take rigid ones: its feet touch
                the ground and do not press into it.
            ground: of the limits' clearances; None for the level floor z = 0.
        """
        rigid = RobotModel(robot, backend, RigidDerivatives(robot, options.period), options.cost)
        reference = reference.prepare(lambda each: gains_along(each, rigid, options.knots))
        model = RobotModel(robot, backend, derivatives, options.cost)
        super().__init__(options, model, reference, backend)
        self.options = options
        self._limited: ConstrainedModel | None = None
        if options.limits.penalty > 0.0:
            limits = Limits(options.limits, robot, ground)
            self._limited = ConstrainedModel(self.model, limits, options.limits.penalty)
        self._worst = Violation(0.0, 0, "")
        self._solvers = self._make_solvers(options)
        self.line_search: LineSearch | None = None
        self._costs: list[Array] = []

    def retune(self, options: PlannerOptions) -> None:
        """Solve with other weights and another search from now on.

        The reference keeps its gains: to compute them again would take longer than a solve.

        Args:
            options: the planner's own but for cost, step sizes, line search, iterations, tolerance
                and damping.

        Raises:
            ValueError: the solver cannot run on them; nothing has changed.
        """
        self._solvers = self._make_solvers(options)
        self.model.weigh(options.cost)
        self.options = options

    def statistics(self) -> dict[str, Any]:
        """Numbers for the report: of the rollouts, and of the limits where plans keep them."""
        report = super().statistics()
        if self._limited is not None:
            report["limits"] = {"worst": self._worst.value, "of": self._worst.name}
        return report

    def _make_solvers(self, options: PlannerOptions) -> list[Hilqr]:
        """The usual solver; then, for seeds that are poor, one for each damping."""
        search, model = options.search, self._limited or self.model
        self.poor = search.poor
        usual = solver_options(options)
        recovery = replace(usual, max_iterations=search.recovery)
        dampings = [options.damping, *search.restarts]
        schedules = [replace(usual.regularisation, initial=damping) for damping in dampings]
        return [
            Hilqr(model, usual),
            *(Hilqr(model, replace(recovery, regularisation=each)) for each in schedules),
        ]

    def _begin(self, start: int) -> None:
        self.line_search, self._costs = None, []
        if self._limited is not None and self._plans:
            self._limited.shift(max(0, start - self._plans[-1].start))

    def _end(self, best: Solution, plan: Plan) -> None:
        if self._limited is not None:
            self._limited.update_multipliers(best.trajectory)
            self._worst = max(self._worst, self._limited.violation(best.trajectory))
        self.line_search = self._searched(plan)

    def _plan(self, estimate: StateEstimate, solution: Solution) -> Plan:
        if not self.options.feedback:
            solution = solution._replace(gains=np.zeros_like(solution.gains))
        return super()._plan(estimate, solution)

    def _roll_out(self, x0: Array, policy: Policies) -> Trajectory | None:
        return self._solvers[0].start(x0, policy)

    def _improve(
        self, x0: Array, seed: Solution, out_of_time: OutOfTime | None
    ) -> Iterator[Solution]:
        """Yield the solutions of the iterations, none worse than the one before.

        A push has made the last plan worth little where it costs `poor` times as much from the new
        state. Several dampings then lead to different contacts, and more iterations pay.
        """
        last, best = self._plans[-1] if self._plans else None, seed
        poor = last is not None and seed.trajectory.cost > self.poor * last.trajectory.cost
        for number, solver in enumerate(self._solvers[1:] if poor else self._solvers[:1]):
            if number > 0 and out_of_time is not None and out_of_time():
                return
            for solution in self._iterate(solver, x0, seed, out_of_time):
                if number == 0 or solution.trajectory.cost < best.trajectory.cost:
                    yield (best := solution)

    def _iterate(
        self, solver: Hilqr, x0: Array, seed: Solution, out_of_time: OutOfTime | None
    ) -> Iterator[Solution]:
        """Yield the solution after each of one solver's iterations."""
        current = seed
        solver.regularisation.reset()
        steps = solver.iterations(x0, seed.trajectory, out_of_time)
        for count, step in enumerate(steps, start=1):
            gains = current.gains if step.gains is None else step.gains
            status = "time_limit" if step.late else _STATUS.get(step.status, "not_converged")
            if step.costs is not None:
                self._costs.append(np.append(step.costs, current.trajectory.cost))
            yield (current := Solution(seed.start, step.trajectory, gains, count, status))

    def _searched(self, plan: Plan) -> LineSearch | None:
        """The line searches of this solve; step size zero is the trajectory before the step."""
        if not self._costs:
            return None
        step_sizes = np.array([*self.options.search.step_sizes, 0.0])
        costs = np.reshape(self._costs, (-1, len(step_sizes)))
        return LineSearch(tick=plan.tick, time=plan.time, step_sizes=step_sizes, costs=costs)


def solver_options(options: PlannerOptions) -> HilqrOptions:
    """The HiLQR solver's own options."""
    return HilqrOptions(
        step_sizes=options.search.step_sizes,
        max_iterations=options.search.iterations,
        line_search=options.search.line_search,
        at_once=options.search.threads,
        tolerance=options.tolerance,
        enough=options.search.enough,
        variant=options.variant,
        regularisation=RegularisationOptions(target="input", initial=options.damping),
    )
