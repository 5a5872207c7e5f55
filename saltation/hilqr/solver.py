"""HiLQR: hybrid iterative linear quadratic regulator (5.3.5).

``Hilqr.iterate`` is one iteration, for a model predictive controller that publishes each better
trajectory; ``Hilqr.solve`` loops it to convergence. Failure is a status, never an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np

from saltation.arrays import Integers
from saltation.hilqr import messages
from saltation.hilqr.bounds import Box, InputBounds
from saltation.hilqr.options import HilqrOptions, Regularisation
from saltation.hilqr.riccati import Backward, backward_pass
from saltation.hilqr.types import (
    Array,
    CostExpansion,
    Linearisation,
    Model,
    Policies,
    Rollouts,
    Trajectory,
)

IterationStatus = Literal[
    "improved",  # a better trajectory was accepted
    "converged",  # the expected change is below the tolerance; trajectory unchanged
    "rejected",  # no candidate was better; damping was raised
    "indefinite",  # no damping up to its maximum made the input Hessian positive definite
]
SolutionStatus = Literal[
    "converged", "not_converged", "stalled", "indefinite", "out_of_time", "failed"
]
OutOfTime = Callable[[], bool]

FIRST_STAGE = 2  # step sizes that a line search in two stages tries before the others
LATE = slice(None, None, 2)  # of the step sizes, when time is up before the line search


class Iteration(NamedTuple):
    """Result of one iteration."""

    status: IterationStatus
    trajectory: Trajectory  # the accepted one, or the one it started from
    gains: Array | None  # (N, m, n) gains that belong to ``trajectory``; None: no backward pass
    backward: Backward | None
    candidate: int  # index of the accepted step size, -1 when none was
    step_size: float  # of the accepted candidate
    expected_change: float  # of the cost at that step size, (5.19); at one when none was accepted
    actual_change: float  # of the cost
    mu: float  # damping of the backward pass
    costs: Array | None = None  # by step size, inf where invalid or not tried; None: no line search
    late: bool = False  # time was up: fewer candidates were tried, and no iteration follows

    @property
    def ratio(self) -> float:
        """Actual over expected change of the cost."""
        return self.actual_change / self.expected_change if self.expected_change else 0.0


class Solution(NamedTuple):
    """End of a solve. ``trajectory`` is None only with status "failed"."""

    status: SolutionStatus
    trajectory: Trajectory | None
    gains: Array | None  # (N, m, n)
    iterations: int
    expected_change: float  # dJ of (5.19) at step size one, of the undamped backward pass
    message: str = ""  # why it did not converge, where, and what to do


class _Expansion(NamedTuple):
    """Quadratic problem about a trajectory."""

    trajectory: Trajectory
    linear: Linearisation
    cost: CostExpansion
    box: Box | None


class Hilqr:
    """Solver over any ``Model``. It holds the options and the damping, and no state of a robot."""

    def __init__(
        self,
        model: Model,
        options: HilqrOptions | None = None,
        bounds: InputBounds | None = None,
    ) -> None:
        """Bind a model.

        Args:
            model: of the system; with ``bounds`` it must clamp inputs as ``Policies`` says.
            options: ``HilqrOptions()`` where they are left out.
            bounds: of the inputs, which every iteration keeps (Tassa, Mansard and Todorov 2014).
        """
        self.model, self.bounds = model, bounds
        self.options = options or HilqrOptions()
        self.regularisation = Regularisation(self.options.regularisation)
        self._step_sizes = np.asarray(self.options.step_sizes, float)
        self._extend = self.options.variant != "no_extension"
        self._expansion: _Expansion | None = None

    def start(self, x0: Array, policies: Policies) -> Trajectory | None:
        """Roll out candidates from x0 (nx,) and take the best; None when none is valid."""
        return self._start(x0, policies)[0]

    def _start(self, x0: Array, policies: Policies) -> tuple[Trajectory | None, Rollouts]:
        self._expansion = None  # the model's cost may have changed since
        if (hold := getattr(self.model, "hold", None)) is not None:
            hold(None)
        rollouts = self._roll_out(x0, policies)
        best = rollouts.best()
        return None if best is None else rollouts.select(best), rollouts

    def iterate(
        self,
        x0: Array,
        trajectory: Trajectory,
        out_of_time: OutOfTime | None = None,
    ) -> Iteration:
        """One iteration: expand, backward pass, line search, accept the best candidate.

        An iteration that has begun is finished: its backward pass is worth nothing without its line
        search. When time is up before that, the line search tries every second step size, the
        first among them.

        Args:
            x0: initial state (nx,), where the trajectory starts.
            trajectory: current solution, a rollout from x0. The expansion about this very object
                is kept until another comes or ``start`` is called, so a rejected step costs no
                second one; call ``start`` when the model's cost has changed.
            out_of_time: asked before the line search.
        """
        expansion = self._expand(trajectory)
        backward = self._damped_pass(expansion)
        mu = self.regularisation.mu
        if not backward.ok:
            return _no_step("indefinite", trajectory, None, mu)
        if self._is_optimal(expansion, backward):
            return _no_step("converged", trajectory, backward, mu)
        late = out_of_time is not None and out_of_time()
        return self._line_search(x0, trajectory, backward, late)

    def iterations(
        self,
        x0: Array,
        trajectory: Trajectory,
        out_of_time: OutOfTime | None = None,
    ) -> Iterator[Iteration]:
        """Iterate until convergence, exhaustion, the end of time or ``max_iterations``.

        A change below ``enough`` ends it too. Yields each iteration, at least one.
        """
        for _ in range(self.options.max_iterations):
            step = self.iterate(x0, trajectory, out_of_time)
            yield step
            if step.late or step.status in ("converged", "indefinite"):
                return
            if self.regularisation.exhausted:
                return
            if 0.0 < -step.actual_change < self.options.enough * trajectory.cost:
                return
            trajectory = step.trajectory

    def solve(
        self,
        x0: Array,
        seed: Policies,
        on_iteration: Callable[[Iteration], None] | None = None,
        out_of_time: OutOfTime | None = None,
    ) -> Solution:
        """Solve from the best of the seed's candidates.

        Args:
            x0: initial state (nx,).
            seed: policies to start from.
            on_iteration: called after each iteration, for instance to publish it.
            out_of_time: deadline of the caller, asked in each iteration; see ``iterate``.
        """
        self.regularisation.reset()
        trajectory, rollouts = self._start(x0, seed)
        if trajectory is None:
            message = messages.seed_message(self.model, x0, seed, rollouts)
            return Solution("failed", None, None, 0, np.nan, message)
        count, last = 0, None
        for last in islice(self._phases(x0, trajectory, out_of_time), self.options.max_iterations):
            count += 1
            if on_iteration is not None:
                on_iteration(last)
        if last is None:
            message = "no iteration was allowed: max_iterations is 0"
            return Solution("not_converged", trajectory, None, 0, np.nan, message)
        return self._conclude(last, count)

    def _phases(
        self, x0: Array, trajectory: Trajectory, out_of_time: OutOfTime | None
    ) -> Iterator[Iteration]:
        """Iterations; where they stall at a kink they go on along it, and then again without."""
        hold: Any = getattr(self.model, "hold", None)
        least, held = np.inf, False
        while True:
            for step in self.iterations(x0, trajectory, out_of_time):
                if held and step.backward is not None:
                    hold(trajectory, self._expand(trajectory).linear, step.backward)
                    self._expansion = None
                yield step
                trajectory = step.trajectory
            if step.late or hold is None or not (held or self.regularisation.exhausted):
                return
            gained, least = least - trajectory.cost > self.options.tolerance, trajectory.cost
            self._expansion = None
            if held and gained:
                held = hold(None)
            elif held or not hold(trajectory) or not gained:
                return
            else:
                held = True
            self.regularisation.reset()

    def _roll_out(self, x0: Array, policies: Policies) -> Rollouts:
        """The model's rollouts, within the bounds."""
        if self.bounds is None:
            return self.model.roll_out(x0, policies)
        rollouts = self.model.roll_out(x0, replace(policies, bounds=self.bounds))
        if not self.bounds.hold(rollouts.inputs[rollouts.ok]):
            raise ValueError(
                f"{type(self.model).__name__}.roll_out leaves the input bounds: it must clamp"
                " inputs to policies.bounds"
            )
        return rollouts

    def _expand(self, trajectory: Trajectory) -> _Expansion:
        """Linearise and quadratise, or the last expansion if it was of this same trajectory."""
        if self._expansion is None or self._expansion.trajectory is not trajectory:
            linear, cost = self.model.linearise(trajectory), self.model.quadratise(trajectory)
            box = None if self.bounds is None else self.bounds.about(trajectory.inputs)
            self._expansion = _Expansion(trajectory, linear, cost, box)
        return self._expansion

    def _damped_pass(self, expansion: _Expansion) -> Backward:
        """Backward pass, with more damping until the input Hessians are positive definite."""
        damping = self.regularisation
        while True:
            backward = self._backward(expansion, damping.mu_state, damping.mu_input)
            if backward.ok:
                return backward
            damping.increase()
            if damping.exhausted:
                return backward

    def _backward(
        self, expansion: _Expansion, mu_state: float = 0.0, mu_input: float = 0.0
    ) -> Backward:
        """Backward pass with the options' variant."""
        _, linear, cost, box = expansion
        return backward_pass(linear, cost, mu_state, mu_input, self.options.variant, box)

    def _is_optimal(self, expansion: _Expansion, backward: Backward) -> bool:
        """Whether |dJ| of (5.19) is small without damping, which would shrink it.

        Or whether no step promises enough to be searched for.
        """
        tolerance = self.options.tolerance
        if not len(self._candidates(expansion.trajectory, backward)):
            return True
        if abs(backward.expected_change()) > tolerance:
            return False
        if self.regularisation.mu > 0.0:
            backward = self._backward(expansion)
        return backward.ok and abs(backward.expected_change()) <= tolerance

    def _candidates(self, trajectory: Trajectory, backward: Backward) -> Integers:
        """Step sizes that would gain ``enough`` with `sufficient_ratio` of their promise.

        Where all are tried at once, one of them makes the others cheap.
        """
        least = self.options.enough * trajectory.cost
        changes = np.array([backward.expected_change(size) for size in self._step_sizes.tolist()])
        worth = (self.options.sufficient_ratio * changes <= -least) | (least == 0.0)
        if self.options.line_search == "exhaustive":
            worth[:] = worth.any()
        return np.flatnonzero(worth)

    def _line_search(
        self, x0: Array, trajectory: Trajectory, backward: Backward, late: bool
    ) -> Iteration:
        """Try groups of step sizes until the cheapest of one brings `sufficient_ratio`.

        The cheapest of all that were tried is taken.
        """
        sizes, options, mu = self._step_sizes, self.options, self.regularisation.mu
        costs = np.full(len(sizes), np.inf)
        candidates = self._candidates(trajectory, backward)[LATE if late else slice(None)]
        one_by_one = range(1, len(candidates))
        stages = {"exhaustive": [], "two_stage": [FIRST_STAGE], "backtracking": one_by_one}
        step = _no_step("rejected", trajectory, backward, mu)
        groups = [each for each in np.split(candidates, stages[options.line_search]) if len(each)]
        ends, begin, rollouts = np.cumsum([len(each) for each in groups]), 0, None
        for number, group in enumerate(groups):
            end = int(ends[number])
            first = end - len(group)
            if rollouts is None or end > begin + len(rollouts.cost):  # of those from `begin` on
                begin = first
                whole = int(np.searchsorted(ends, first + options.at_once, "right")) - 1
                ahead = sizes[candidates[first : ends[max(number, whole)]]]
                rollouts = self._roll_out(x0, self._policies(trajectory, backward, ahead))
            costs[group] = rollouts.valid_costs()[first - begin : end - begin]
            at = int(np.argmin(costs[group]))
            best = int(group[at])
            if not costs[best] < step.trajectory.cost:
                continue
            size = float(sizes[best])
            actual = float(costs[best]) - trajectory.cost
            expected = backward.expected_change(size)
            if actual <= options.minimum_ratio * expected:
                chosen = rollouts.select(first - begin + at)
                step = Iteration("improved", chosen, backward.gains, backward, best, size,
                                 expected, actual, mu)  # fmt: skip
            if actual <= options.sufficient_ratio * expected:
                break
        if step.status == "improved":
            self.regularisation.decrease()
        else:
            self.regularisation.increase()
        return step._replace(costs=costs, late=late)

    def _policies(self, trajectory: Trajectory, backward: Backward, step_sizes: Array) -> Policies:
        """The backward pass's policy, with one candidate for each step size."""
        states, inputs, _, aux = trajectory
        gains, feedforward = backward.gains, backward.feedforward
        policies = Policies.of(states, inputs, gains, feedforward, step_sizes, aux)
        return replace(policies, extend_reference=self._extend)

    def _conclude(self, last: Iteration, count: int) -> Solution:
        """Status and undamped expected change of the trajectory that a solve ended with."""
        trajectory, tolerance = last.trajectory, self.options.tolerance
        expansion = self._expand(trajectory)
        undamped = self._backward(expansion)
        change = undamped.expected_change() if undamped.ok else np.nan
        status: SolutionStatus = "not_converged"
        message = messages.unfinished_message(f"iteration {count} was the last", change, tolerance)
        if last.status == "indefinite":
            status = "indefinite"
            message = messages.indefinite_message(
                expansion.linear, expansion.cost, undamped.failed_knot
            )
        elif abs(change) <= tolerance:
            status, message = "converged", ""
        elif self.regularisation.exhausted:
            status = "stalled"
            message = messages.stall_message(self.model, trajectory, self.options, change)
        elif last.late:
            status = "out_of_time"
            reason = f"time was up in iteration {count}"
            message = messages.unfinished_message(reason, change, tolerance)
        return Solution(status, trajectory, last.gains, count, change, message)


def _no_step(
    status: IterationStatus, trajectory: Trajectory, backward: Backward | None, mu: float
) -> Iteration:
    gains = None if backward is None else backward.gains
    change = np.nan if backward is None else backward.expected_change()
    return Iteration(status, trajectory, gains, backward, -1, 0.0, change, 0.0, mu)
