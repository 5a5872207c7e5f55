"""Base of planners by rollouts: a policy on the reference's knots, improved and shifted."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from controller.driving.commands import CommandIntake, sequence_of
from controller.planner import Planner
from controller.planner_options import MppiOptions, PlannerOptions
from controller.references.trajectory import Reference, ReferenceWindow
from controller.rigid_derivatives import CONTACT_FORCE
from controller.robot_model import RobotModel, RolloutBackend
from robots.rotations import Array
from robots.state import difference
from runtime.messages import Plan, StateEstimate
from saltation.hilqr import Policies, Trajectory

OutOfTime = Callable[[], bool]
OnPlan = Callable[[Plan], None]
POOR = 1.3  # the growth of its cost that makes a last plan poor, of planners without the option
EARLIER_PLANS = 8  # before the newest one; some of them may not have begun yet
ON_KNOT = 1e-6  # of a knot: instants that differ by less are the same


class Solution(NamedTuple):
    """A policy on knots: the trajectory, its gains, and how it came about."""

    start: int  # reference knot of its first state
    trajectory: Trajectory
    gains: Array  # (N, 12, 36)
    iterations: int
    status: str


class RolloutPlanner(Planner):
    """Plans from a state estimate: `solve(estimate) -> Plan`.

    Time zero of the reference is the first estimate's time. Plans start on the reference's own
    knots, so the previous solution is reused by shifting it a whole number of knots.
    """

    def __init__(
        self,
        horizon: PlannerOptions | MppiOptions,
        model: RobotModel,
        reference: Reference,
        backend: RolloutBackend,
    ) -> None:
        """Make it for a model that tracks a reference.

        Args:
            horizon: of the plans.
            model: rolls policies out on `backend`, and knows what they cost.
            reference: what is to be tracked, with its gains.
            backend: predicts where the robot will be.
        """
        self.model, self.reference, self.poor = model, reference, POOR
        self._horizon, self._backend = horizon, backend
        self._origin: float | None = None
        self._plans: list[Solution] = []  # the newest, in order of their start
        self._count = 0

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
            out_of_time: asked before each batch of rollouts; True makes it smaller and the last.
            on_plan: called with each iteration's plan but the last one, which is returned.

        Returns:
            The plan; its status is "failed" when no candidate stayed finite, and then its
            inputs are the reference's and nothing should follow it.
        """
        if self.ground_estimate is not None:
            self.ground_estimate.follow(estimate)
        if self._origin is None:
            self._origin = estimate.time
        elapsed = (estimate.time + lead - self._origin) / self._horizon.period
        start = int(np.ceil(elapsed - 1e-6)) if lead > 0.0 else round(elapsed)
        x0 = self._state_at(estimate, start, lead)
        window = self._window(start, x0)
        if not self._horizon.replan:
            return self._plan(estimate, _as_it_is(start, window))
        self.model.track(window)
        self._begin(start)
        seed = self._seed(x0, start, window)
        if seed is None:
            self._plans = []
            return self._plan(estimate, _nothing(start, window))
        best = seed
        for solution in self._improve(x0, seed, out_of_time):
            if on_plan is not None and best is not seed:
                on_plan(self._plan(estimate, best))
            best = solution
        earlier = [plan for plan in self._plans if plan.start < best.start]
        self._plans = [*earlier[-EARLIER_PLANS:], best]
        plan = self._plan(estimate, best)
        self._end(best, plan)
        return plan

    @abstractmethod
    def _improve(
        self, x0: Array, seed: Solution, out_of_time: OutOfTime | None
    ) -> Iterator[Solution]:
        """Yield every iteration's solution, from the `seed` that was rolled out from x0 (37)."""

    def _begin(self, start: int) -> None:
        """A solve from this knot of the reference begins."""

    def _end(self, best: Solution, plan: Plan) -> None:
        """A solve has ended with `plan`."""

    def _window(self, start: int, x0: Array) -> ReferenceWindow:
        """The reference over the horizon of a robot that is in x0 (37) at its knot `start`."""
        return self.reference.window(start, self._horizon.knots, x0)

    @property
    def commands(self) -> CommandIntake | None:
        """Source of the goals; None where the robot is not driven."""
        return self.reference.commands

    @property
    def round_trip_s(self) -> float:
        """Time of the last solve that a rollout server took, its physics apart [s]."""
        return self.model.round_trip_s

    def statistics(self) -> dict[str, Any]:
        """Numbers for the report, of the rollouts."""
        return {"rollouts": self._backend.statistics()}

    def _state_at(self, estimate: StateEstimate, start: int, lead: float) -> Array:
        """x = [q, v] at the knot `start`: the estimate, moved along the plans until then."""
        x0 = np.concatenate([estimate.q, estimate.v])
        if lead <= 0.0 or not self._plans or self._origin is None:
            return x0
        begin = (estimate.time - self._origin) / self._horizon.period
        return predict(
            self._backend, x0, self._plans, begin, float(start), self._horizon.period,
            self.model.robot.torque_limit,
        )  # fmt: skip

    def _seed(self, x0: Array, start: int, window: ReferenceWindow) -> Solution | None:
        """The previous solution, shifted; where that has become poor, it or the reference's policy.

        Returns:
            The rollout from x0 with its gains, at iteration zero; None where none stays finite.
        """
        last, seed = self._plans[-1] if self._plans else None, None
        if last is not None and 0 <= start - last.start < self._horizon.knots:
            seed = self._start(x0, start, shifted(last, start - last.start, window))
            if seed is not None and seed.trajectory.cost <= self.poor * last.trajectory.cost:
                return seed
        other = self._start(x0, start, reference_policy(window))
        found = [each for each in (seed, other) if each is not None]
        return min(found, key=lambda each: each.trajectory.cost, default=None)

    def _start(self, x0: Array, start: int, policy: Policies) -> Solution | None:
        """Roll one policy out from x0."""
        trajectory = self._roll_out(x0, policy)
        if trajectory is None:
            return None
        return Solution(start, trajectory, policy.gains[0], 0, "not_converged")

    def _roll_out(self, x0: Array, policy: Policies) -> Trajectory | None:
        """The trajectory of one policy from x0 (37); None where it does not stay finite."""
        rollouts = self.model.roll_out(x0, policy)
        best = rollouts.best()
        return None if best is None else rollouts.select(best)

    def _plan(self, estimate: StateEstimate, solution: Solution) -> Plan:
        """The message of a solution."""
        assert self._origin is not None
        self._count += 1
        trajectory = solution.trajectory
        return Plan(
            id=self._count,
            tick=estimate.tick,
            time=self._origin + solution.start * self._horizon.period,
            period=self._horizon.period,
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
            tilt=self.reference.tilt(solution.start * self._horizon.period),
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
    """The report of a failed solve: the reference, without feedback."""
    states = np.hstack([window.q, window.v])
    forces = window.contacts[:-1] * (2.0 * CONTACT_FORCE)
    trajectory = Trajectory(states, window.inputs, float("inf"), forces)
    return Solution(start, trajectory, np.zeros_like(window.gains), 0, "failed")


def predict(
    backend: RolloutBackend,
    x0: Array,
    policies: Sequence[Solution],
    begin: float,
    until: float,
    period: float,
    torque_limit: Array,
) -> Array:
    """State after following policies from one instant to another, each from its own start on.

    Args:
        backend: the physics.
        x0: state [q, v] at `begin` (37,).
        policies: in order of their start, one at least; the first is followed before its start too.
        begin, until: instants in knots of the reference; not whole numbers in general.
        period: time between knots [s].
        torque_limit: of the motors (12) [N m].

    Returns:
        x (37,) at `until`; x0 itself when the physics diverges.
    """
    x, now = x0, begin
    while until - now > ON_KNOT:
        stop = min(until, np.floor(now + ON_KNOT) + 1.0)
        torque = np.clip(_torque(in_force(policies, now), x, now), -torque_limit, torque_limit)
        x = backend.advance(x, torque, (stop - now) * period)
        now = stop
    return x if np.isfinite(x).all() else x0


def in_force(policies: Sequence[Solution], now: float) -> Solution:
    """The newest policy that has begun by `now` [knots]; the oldest where none has."""
    begun = [policy for policy in policies if policy.start <= now + ON_KNOT]
    return begun[-1] if begun else policies[0]


def _torque(policy: Solution, x: Array, now: float) -> Array:
    """Torque (12,) [N m] of a policy at the state x (37,) and the instant `now` [knots]."""
    since = now - policy.start
    k = int(np.clip(np.floor(since + ON_KNOT), 0, len(policy.gains) - 1))
    states = policy.trajectory.states
    nominal = states[k] if since - k < 0.5 else states[k + 1]
    dx = difference(nominal[:19], nominal[19:], x[:19], x[19:])
    return policy.trajectory.inputs[k] + policy.gains[k] @ dx
