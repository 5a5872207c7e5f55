"""HiLQR MPC (6.4): replans the next half second on the full hybrid dynamics, every time anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from controller.a1_model import A1Model, Derivatives, RolloutBackend
from controller.driving.goal import Commands, sequence_of
from controller.limits import Limits
from controller.planner import NO_CANDIDATES, Planner
from controller.planner_options import PlannerOptions
from controller.prediction import predict
from controller.reference_gains import gains_along
from controller.references.trajectory import Reference, ReferenceWindow
from controller.rigid_derivatives import CONTACT_FORCE, RigidDerivatives
from hybrid.hilqr import Hilqr, HilqrOptions, Policies, RegularisationOptions, Trajectory
from hybrid.hilqr.constraints import ConstrainedModel, Violation
from robots.terrain import Ground
from runtime.messages import LineSearch, Plan, StateEstimate

Array = NDArray[np.float64]
OutOfTime = Callable[[], bool]
OnPlan = Callable[[Plan], None]

POOR = 1.3  # of the last plan's cost: where the shifted plan costs more, the reference is tried too
EARLIER_PLANS = 8  # before the newest one; some of them may not have begun yet


class Solution(NamedTuple):
    """A policy on knots: the trajectory, its gains, and how it came about."""

    start: int  # reference knot of its first state
    trajectory: Trajectory
    gains: Array  # (N, 12, 36)
    iterations: int
    status: str


class HilqrPlanner(Planner):
    """Plans from a state estimate: `solve(estimate) -> Plan`.

    Time zero of the reference is the first estimate's time. Plans start on the reference's own
    knots, so the previous solution is reused by shifting it a whole number of knots.

    Attributes:
        line_search: costs of all candidates of the last solve; None before the first one and after
            one that failed.
    """

    def __init__(
        self,
        options: PlannerOptions,
        reference: Reference,
        backend: RolloutBackend,
        derivatives: Derivatives,
        ground: Ground | None = None,
    ) -> None:
        """Precompute the reference's gains.

        Args:
            options: of the planner.
            reference: what is to be tracked.
            backend: simulates candidates in parallel.
            derivatives: of the backward pass. The reference's gains take rigid ones: its feet touch
                the ground and do not press into it.
            ground: of the limits' clearances; None for the level floor z = 0.
        """
        self.options = options
        self.model = A1Model(backend, derivatives, options.cost)
        rigid = A1Model(backend, RigidDerivatives(options.period), options.cost)
        self.reference = reference.prepare(lambda each: gains_along(each, rigid, options.knots))
        self._backend = backend
        self._limited: ConstrainedModel | None = None
        if options.limits.penalty > 0.0:
            limits = Limits(options.limits, ground)
            self._limited = ConstrainedModel(self.model, limits, options.limits.penalty)
        self._worst = Violation(0.0, 0, "")
        self._solver = self._make_solver(options)
        self._origin: float | None = None
        self._plans: list[Solution] = []  # the newest, in order of their start
        self._count = 0
        self.line_search: LineSearch | None = None
        self._costs: list[Array] = []

    def solve(
        self,
        estimate: StateEstimate,
        lead: float = 0.0,
        out_of_time: OutOfTime | None = None,
        on_plan: OnPlan | None = None,
    ) -> Plan:
        """Plan from the state that the robot will have `lead` seconds after the estimate.

        Args:
            estimate: the state to plan from.
            lead: expected solve time [s]; the state is predicted ahead by it, up to the next knot.
            out_of_time: asked before each line search; True makes it smaller and the last one.
            on_plan: called with each iteration's plan but the last one, which is returned.

        Returns:
            The plan; its status is "failed" when no candidate stayed finite, and then its
            inputs are the reference's and nothing should follow it.
        """
        if self.ground_estimate is not None:
            self.ground_estimate.follow(estimate)
        if self._origin is None:
            self._origin = estimate.time
        elapsed = (estimate.time + lead - self._origin) / self.options.period
        start = int(np.ceil(elapsed - 1e-6)) if lead > 0.0 else round(elapsed)
        x0 = self._state_at(estimate, start, lead)
        window = self.reference.window(start, self.options.knots, x0)
        self.line_search, self._costs = None, []
        if not self.options.replan:
            return self._plan(estimate, _as_it_is(start, window))
        self.model.track(window)
        if self._limited is not None and self._plans:
            self._limited.shift(max(0, start - self._plans[-1].start))
        seed = self._seed(x0, start, window)
        if seed is None:
            self._plans = []
            return self._plan(estimate, _nothing(start, window))
        best = seed
        for solution in self._improve(x0, seed, out_of_time):
            if on_plan is not None and best is not seed:
                on_plan(self._plan(estimate, best))
            best = solution
        if self._limited is not None:
            self._limited.update_multipliers(best.trajectory)
            self._worst = max(self._worst, self._limited.violation(best.trajectory))
        earlier = [plan for plan in self._plans if plan.start < best.start]
        self._plans = [*earlier[-EARLIER_PLANS:], best]
        plan = self._plan(estimate, best)
        self.line_search = self._searched(plan)
        return plan

    @property
    def commands(self) -> Commands | None:
        """Where the goals come from; None where the robot is not driven."""
        return self.reference.commands

    @property
    def candidates(self) -> Array:
        """Base paths (C, N+1, 3) of all rollouts that the last solve chose from [m]."""
        paths = self.model.base_paths
        return np.concatenate(paths) if paths else NO_CANDIDATES

    def retune(self, options: PlannerOptions) -> None:
        """Solve with other weights and another search from now on.

        The reference keeps its gains: to compute them again would take longer than a solve.

        Args:
            options: the planner's own but for cost, step sizes, line search, iterations, tolerance
                and damping.

        Raises:
            ValueError: the solver cannot run on them; nothing has changed.
        """
        self._solver = self._make_solver(options)
        self.model.weigh(options.cost)
        self.options = options

    @property
    def round_trip_s(self) -> float:
        """Of the last solve, spent on asking a rollout server, its physics apart [s]."""
        return self.model.round_trip_s

    def statistics(self) -> dict[str, Any]:
        """What the report says of the rollouts, and of the limits where plans keep them."""
        report = {"rollouts": self._backend.statistics()}
        if self._limited is not None:
            report["limits"] = {"worst": self._worst.value, "of": self._worst.name}
        return report

    def _make_solver(self, options: PlannerOptions) -> Hilqr:
        return Hilqr(self._limited or self.model, solver_options(options))

    def _state_at(self, estimate: StateEstimate, start: int, lead: float) -> Array:
        """x = [q, v] at the knot `start`: the estimate, moved along the plans until then."""
        x0 = np.concatenate([estimate.q, estimate.v])
        if lead <= 0.0 or not self._plans or self._origin is None:
            return x0
        begin = (estimate.time - self._origin) / self.options.period
        return predict(self._backend, x0, self._plans, begin, float(start), self.options.period)

    def _seed(self, x0: Array, start: int, window: ReferenceWindow) -> Solution | None:
        """The previous solution, shifted; where that has become poor, it or the reference's policy.

        Returns:
            The rollout from x0 with its gains, at iteration zero; None where none stays finite.
        """
        last, seed = self._plans[-1] if self._plans else None, None
        if last is not None and 0 <= start - last.start < self.options.knots:
            seed = self._start(x0, start, shifted(last, start - last.start, window))
            if seed is not None and seed.trajectory.cost <= POOR * last.trajectory.cost:
                return seed
        other = self._start(x0, start, reference_policy(window))
        found = [each for each in (seed, other) if each is not None]
        return min(found, key=lambda each: each.trajectory.cost, default=None)

    def _start(self, x0: Array, start: int, policy: Policies) -> Solution | None:
        """Roll one policy out from x0."""
        trajectory = self._solver.start(x0, policy)
        if trajectory is None:
            return None
        return Solution(start, trajectory, policy.gains[0], 0, "not_converged")

    def _improve(
        self, x0: Array, seed: Solution, out_of_time: OutOfTime | None
    ) -> Iterator[Solution]:
        """Yield every iteration's solution."""
        current = seed
        self._solver.regularisation.reset()
        steps = self._solver.iterations(x0, seed.trajectory, out_of_time)
        for count, step in enumerate(steps, start=1):
            gains = current.gains if step.gains is None else step.gains
            status = "time_limit" if step.late else _STATUS.get(step.status, "not_converged")
            if step.costs is not None:
                self._costs.append(np.append(step.costs, current.trajectory.cost))
            yield (current := Solution(seed.start, step.trajectory, gains, count, status))

    def _plan(self, estimate: StateEstimate, solution: Solution) -> Plan:
        """The message of a solution."""
        assert self._origin is not None
        self._count += 1
        trajectory = solution.trajectory
        return Plan(
            id=self._count,
            tick=estimate.tick,
            time=self._origin + solution.start * self.options.period,
            period=self.options.period,
            states_q=np.ascontiguousarray(trajectory.states[:, :19]),
            states_v=np.ascontiguousarray(trajectory.states[:, 19:]),
            inputs=trajectory.inputs,
            gains=solution.gains,
            contacts=(trajectory.aux > CONTACT_FORCE).astype(np.float64),
            cost=trajectory.cost,
            iterations=solution.iterations,
            solve_s=0.0,
            status=solution.status,  # type: ignore[arg-type]
            command=sequence_of(self.commands),
            tilt=self.reference.tilt(solution.start * self.options.period),
        )

    def _searched(self, plan: Plan) -> LineSearch:
        """The line searches of this solve; step size zero is the trajectory before the step."""
        step_sizes = np.array([*self.options.search.step_sizes, 0.0])
        costs = np.reshape(self._costs, (-1, len(step_sizes)))
        return LineSearch(tick=plan.tick, time=plan.time, step_sizes=step_sizes, costs=costs)


_STATUS = {"converged": "ok", "improved": "ok", "rejected": "ok"}


def solver_options(options: PlannerOptions) -> HilqrOptions:
    """The HiLQR solver's own options."""
    return HilqrOptions(
        step_sizes=options.search.step_sizes,
        max_iterations=options.search.iterations,
        line_search=options.search.line_search,
        tolerance=options.tolerance,
        variant=options.variant,
        regularisation=RegularisationOptions(target="input", initial=options.damping),
    )


def reference_policy(window: ReferenceWindow) -> Policies:
    """The reference with its precomputed gains as a candidate."""
    return Policies.of(np.hstack([window.q, window.v]), window.inputs, window.gains)


def shifted(last: Solution, shift: int, window: ReferenceWindow) -> Policies:
    """The previous solution's remaining knots, continued by the reference."""
    keep = len(last.gains) - shift
    tail = np.hstack([window.q, window.v])[keep + 1 :]
    return Policies.of(
        np.vstack([last.trajectory.states[shift:], tail]),
        np.vstack([last.trajectory.inputs[shift:], window.inputs[keep:]]),
        np.concatenate([last.gains[shift:], window.gains[keep:]]),
    )


def _as_it_is(start: int, window: ReferenceWindow) -> Solution:
    """The reference with its own gains."""
    return _nothing(start, window)._replace(gains=window.gains, status="ok")


def _nothing(start: int, window: ReferenceWindow) -> Solution:
    """What a failed solve reports: the reference, without feedback."""
    states = np.hstack([window.q, window.v])
    forces = window.contacts[:-1] * (2.0 * CONTACT_FORCE)
    trajectory = Trajectory(states, window.inputs, float("inf"), forces)
    return Solution(start, trajectory, np.zeros_like(window.gains), 0, "failed")
