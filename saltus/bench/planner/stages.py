"""Times of one HiLQR iteration as a whole, of its stages, and of the bare physics in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from controller.driving.commands import Goal
from controller.driving.reference import DrivenReference
from controller.options import DriveOptions
from controller.rollout_planner import reference_policy
from hybrid.hilqr import Policies, Trajectory, backward_pass
from robots.robot import load_robot
from saltus.bench.contest import Times
from studies.a1.systems.planner_cases import Array, Case, PlannerParts, Workbench


class StageTimer:
    """Measures cases: the iteration, its stages alone, and the physics alone."""

    def __init__(self, bench: Workbench, cases: Sequence[Case], times: Times) -> None:
        """Bind the planner's parts; the reference of a trot that is driven around a bend."""
        self._bench, self._cases, self._times = bench, cases, times
        self._driven = DrivenReference(
            DriveOptions(), load_robot("a1"), bench.paused.options.period
        )
        self._driven.course.goal = Goal(0.5, 0.1, 0.3, None, "trot")

    def measure(self, number: int) -> None:
        """Add a duration of each thing in one of the cases."""
        case, call = self._cases[number], self._times.call
        next_knot = self._driven.course.knot + 1
        knots = self._bench.paused.options.knots
        call("driven_reference", self._driven.window, next_knot, knots, case.x0)
        trajectory = self._iterate("iteration", self._bench.paused, case)
        self._iterate("iteration_rigid", self._bench.rigid, case)
        as_run = self._iterate("iteration_as_run", self._bench.as_run, case)
        call("linearise_rigid", self._bench.rigid.model.linearise, trajectory)
        call("linearise_as_run", self._bench.as_run.model.linearise, as_run)
        model, options = self._bench.paused.model, self._bench.paused.options
        linear = call("linearise", model.linearise, trajectory)
        cost = call("quadratise", model.quadratise, trajectory)
        backward = call("backward", backward_pass, linear, cost, 0.0, options.damping)
        policies = Policies.of(
            trajectory.states, trajectory.inputs, backward.gains, backward.feedforward,
            options.search.step_sizes,
        )  # fmt: skip
        rollouts = call("line_search", model.roll_out, case.x0, policies)
        torques = np.ascontiguousarray(rollouts.inputs.swapaxes(0, 1))
        call("bare_stepping", self._replay, self._prepare(case.x0, len(rollouts.inputs)), torques)

    def _iterate(self, name: str, parts: PlannerParts, case: Case) -> Trajectory:
        """One iteration from the rollout of the reference's policy, which is returned."""
        solver = parts.solver
        parts.model.track(case.window)
        solver.regularisation.reset()
        trajectory = solver.start(case.x0, reference_policy(case.window))
        assert trajectory is not None, "a benchmark's case diverged"
        step = self._times.call(name, solver.iterate, case.x0, trajectory)
        assert step.status in ("improved", "rejected"), step.status
        return trajectory

    def _prepare(self, x0: Array, candidates: int) -> Any:
        """MuJoCo's own batch of the same model and threads, at x0."""
        bound = self._bench.paused.backend.batch(candidates)
        bound.reset(x0)
        return bound

    def _replay(self, bound: Any, torques: Array) -> None:
        """Step the batch under the line search's torques (N, C, 12): no policy, no record."""
        step, ctrl, substeps = bound.batch.step, bound.ctrl, self._bench.paused.backend.substeps
        for torque in torques:
            ctrl[:] = torque
            step(nstep=substeps)
