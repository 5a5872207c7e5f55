"""Times of one HiLQR iteration as a whole, of its stages, and of the bare physics in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any

import numpy as np

from controller.driving.goal import Goal
from controller.driving.options import DriveOptions
from controller.driving.reference import DrivenReference
from controller.hilqr_planner import reference_policy
from hybrid.hilqr import Policies, Trajectory, backward_pass
from saltus.studies.a1.planner_cases import Array, Case, PlannerParts, Workbench


class Times:
    """Samples of each named thing [ms]."""

    def __init__(self) -> None:
        self._samples: dict[str, list[float]] = {}

    def add(self, name: str, milliseconds: Iterable[float]) -> None:
        """Append samples [ms]."""
        self._samples.setdefault(name, []).extend(milliseconds)

    def call(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call, add the time, return the result."""
        begin = perf_counter()
        result = function(*arguments)
        self.add(name, [1e3 * (perf_counter() - begin)])
        return result

    def median(self, name: str) -> float:
        """Median of a thing's samples [ms]."""
        return float(np.median(self._samples[name]))

    def spread(self, name: str) -> tuple[float, float]:
        """10th and 90th percentiles [ms]."""
        low, high = np.percentile(self._samples[name], [10.0, 90.0])
        return float(low), float(high)

    def rows(self) -> list[dict[str, Any]]:
        """One row for each thing."""
        rows = []
        for name, samples in self._samples.items():
            low, high = self.spread(name)
            rows.append({
                "name": name, "median_ms": self.median(name), "p10_ms": low, "p90_ms": high,
                "n": len(samples), "ratio": None, "at_most": None,
            })  # fmt: skip
        return rows


class StageTimer:
    """Measures one case: the iteration, its stages apart, and the physics alone."""

    def __init__(self, bench: Workbench) -> None:
        """Bind the planner's parts; the reference of a trot that is driven around a bend."""
        self._bench = bench
        self._driven = DrivenReference(DriveOptions(), bench.paused.options.period)
        self._driven.course.goal = Goal(0.5, 0.1, 0.3, None, "trot")

    def measure(self, case: Case, times: Times) -> None:
        """Add one sample of each thing."""
        next_knot = self._driven.course.knot + 1
        times.call("driven_reference", self._driven.window, next_knot,
                   self._bench.paused.options.knots, case.x0)  # fmt: skip
        trajectory = self._iterate("iteration", self._bench.paused, case, times)
        self._iterate("iteration_rigid", self._bench.rigid, case, times)
        as_run = self._iterate("iteration_as_run", self._bench.as_run, case, times)
        times.call("linearise_rigid", self._bench.rigid.model.linearise, trajectory)
        times.call("linearise_as_run", self._bench.as_run.model.linearise, as_run)
        model, options = self._bench.paused.model, self._bench.paused.options
        linear = times.call("linearise", model.linearise, trajectory)
        cost = times.call("quadratise", model.quadratise, trajectory)
        backward = times.call("backward", backward_pass, linear, cost, 0.0, options.damping)
        policies = Policies.of(
            trajectory.states, trajectory.inputs, backward.gains, backward.feedforward,
            options.search.step_sizes,
        )  # fmt: skip
        rollouts = times.call("line_search", model.roll_out, case.x0, policies)
        times.call("bare_stepping", self._replay, self._prepare(case.x0, len(rollouts.inputs)),
                   np.ascontiguousarray(rollouts.inputs.swapaxes(0, 1)))  # fmt: skip

    def _iterate(self, name: str, parts: PlannerParts, case: Case, times: Times) -> Trajectory:
        """One iteration from the rollout of the reference's policy, which is returned."""
        solver = parts.solver
        parts.model.track(case.window)
        solver.regularisation.reset()
        trajectory = solver.start(case.x0, reference_policy(case.window))
        assert trajectory is not None, "a benchmark's case diverged"
        step = times.call(name, solver.iterate, case.x0, trajectory)
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
