"""The candidates of a plan's line search, rolled out again for their states."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from controller.hilqr_planner import HilqrPlanner
from controller.robot_model import RolloutBackend, RolloutResult
from hybrid.hilqr import Policies, Rollouts
from hybrid.systems import Array
from saltus.launch.lock_step import Tick


class CandidateSet(NamedTuple):
    """The candidates of a plan's first line search, C of them over N knots.

    The last one has step size zero: the trajectory before the step.

    Attributes:
        begin: of the horizon [s].
        period: between knots [s].
        step_sizes: (C,), descending.
        costs: (C,), as the planner's message has them.
        repeated_costs: (C,) of the same candidates, rolled out again.
        states: (C, N+1, 37) of those.
        continuation: cost of the previous plan's continuation from the state after the push.
        plan_cost: of the plan after all iterations.
    """

    begin: float
    period: float
    step_sizes: Array
    costs: Array
    repeated_costs: Array
    states: Array
    continuation: float
    plan_cost: float

    @property
    def chosen(self) -> int:
        """The candidate that the planner takes."""
        return int(np.argmin(self.costs))


class RolloutLog:
    """A rollout backend that keeps the requests for rollouts."""

    def __init__(self, backend: RolloutBackend) -> None:
        """Pass requests on to `backend`."""
        self._backend = backend
        self.requests: list[tuple[Array, Policies]] = []

    def __getattr__(self, name: str) -> Any:
        """All but the rollouts is the backend's own."""
        return getattr(self._backend, name)

    def roll_out(self, x0: Array, policies: Policies) -> RolloutResult:
        """Roll out, and keep x0 (37,) and the policies."""
        self.requests.append((x0.copy(), policies))
        return self._backend.roll_out(x0, policies)

    def take(self) -> list[tuple[Array, Policies]]:
        """The requests since the last call."""
        taken, self.requests = self.requests, []
        return taken


def roll_out_again(
    planner: HilqrPlanner, tick: Tick, requests: list[tuple[Array, Policies]]
) -> CandidateSet:
    """Roll the candidates out again; the planner still tracks the window of this plan."""
    assert tick.search is not None and tick.plan is not None
    count = len(tick.search.step_sizes) - 1
    single = [planner.model.roll_out(*each) for each in requests if each[1].count == 1]
    first = next(each for each in requests if each[1].count == count)
    steps: Rollouts = planner.model.roll_out(*first)
    start = min(single, key=lambda rollouts: rollouts.valid_costs()[0])  # where the solve began
    return CandidateSet(
        tick.plan.time, tick.plan.period, tick.search.step_sizes, tick.search.costs[0],
        np.append(steps.valid_costs(), start.valid_costs()),
        np.concatenate([steps.states, start.states]),
        float(single[0].valid_costs()[0]), tick.plan.cost,
    )  # fmt: skip
