"""HiLQR with inequality constraints: solves for the policy, then for the multipliers, in turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from hybrid.hilqr.constraints import ConstrainedModel, Constraints, Violation
from hybrid.hilqr.options import HilqrOptions
from hybrid.hilqr.solver import Hilqr, Solution
from hybrid.hilqr.types import Array, Model, Policies, Trajectory

ConstrainedStatus = Literal[
    "converged",  # the policy is optimal, and no constraint is violated
    "settled",  # none is violated, and a round changed the cost by little
    "infeasible",  # a violation remains at the largest penalty
    "not_converged",
    "failed",
]

ENOUGH = 0.25  # of the last violation: where less was gained the penalty grows


@dataclass(frozen=True)
class ConstraintOptions:
    """How constraints are enforced.

    Attributes:
        tolerance: violation that counts as none, in the constraint's own unit.
        max_rounds: updates of the multipliers.
        penalty: mu at the start [cost / violation^2].
        growth: of the penalty, where an update brought too little.
        settled: share of the cost that a round must change, or the solve ends where no constraint
            is violated; 0 for a solve to convergence.
        most_penalty: where a violation remains at this one, the constraints cannot be met.
    """

    tolerance: float = 1e-4
    max_rounds: int = 30
    penalty: float = 1.0
    growth: float = 10.0
    settled: float = 0.0
    most_penalty: float = 1e8


class ConstrainedSolution(NamedTuple):
    """Where a solve ended. ``trajectory`` is None only with status "failed".

    ``trajectory.cost`` has no part of the constraints.
    """

    status: ConstrainedStatus
    trajectory: Trajectory | None
    gains: Array | None  # (N, m, n)
    multipliers: Array  # (N+1, P)
    violation: Violation
    iterations: int  # of HiLQR
    rounds: int  # updates of the multipliers
    message: str = ""  # why it did not converge, and where


class ConstrainedHilqr:
    """Solver over any ``Model`` and any ``Constraints``; see `Hilqr`."""

    def __init__(
        self,
        model: Model,
        constraints: Constraints,
        options: HilqrOptions | None = None,
        constraint_options: ConstraintOptions | None = None,
    ) -> None:
        """Bind a model and its constraints."""
        self.options = constraint_options or ConstraintOptions()
        self.model = ConstrainedModel(model, constraints, self.options.penalty)
        self.solver = Hilqr(self.model, options)

    def solve(self, x0: Array, seed: Policies) -> ConstrainedSolution:
        """Solve from the best of the seed's candidates, with multipliers of zero.

        A round solves for the policy at fixed multipliers, and then updates them. The penalty grows
        where the violation did not shrink enough.

        Args:
            x0: initial state (nx,).
            seed: policies to start from; they may violate constraints.
        """
        options, model = self.options, self.model
        model.multipliers, model.penalty = model.multipliers[:0], options.penalty
        iterations, last, rounds, cost = 0, float("inf"), 0, float("inf")
        solution, violation = None, Violation(float("inf"), 0, "")
        for rounds in range(1, options.max_rounds + 1):
            step = self.solver.solve(x0, seed)
            if step.trajectory is None:
                return self._conclude("failed", step, violation, iterations, rounds)
            solution, iterations = step, iterations + step.iterations
            violation = model.violation(step.trajectory)
            met = violation.value <= options.tolerance
            if met and step.status == "converged":
                return self._conclude("converged", step, violation, iterations, rounds)
            before, cost = cost, model.cost(step.trajectory)
            if met and abs(before - cost) < options.settled * abs(cost):
                return self._conclude("settled", step, violation, iterations, rounds)
            if not met and model.penalty >= options.most_penalty:
                return self._conclude("infeasible", step, violation, iterations, rounds)
            model.update_multipliers(step.trajectory)
            if not met and violation.value > ENOUGH * last:
                model.penalty = min(options.growth * model.penalty, options.most_penalty)
            last = violation.value
            seed = _policy(step)
        assert solution is not None
        return self._conclude("not_converged", solution, violation, iterations, rounds)

    def _conclude(
        self, status: ConstrainedStatus, step: Solution, violation: Violation, iterations: int,
        rounds: int,
    ) -> ConstrainedSolution:  # fmt: skip
        trajectory, message = step.trajectory, step.message
        if trajectory is not None:
            trajectory = trajectory._replace(cost=self.model.cost(trajectory))
        if status == "infeasible":
            message = f"{violation}, whatever the penalty: loosen it, or start from another seed"
        elif status == "not_converged" and violation.value > self.options.tolerance:
            message = f"{violation} after {rounds} rounds: allow more"
        elif status in ("converged", "settled"):
            message = ""
        return ConstrainedSolution(
            status, trajectory, step.gains, self.model.multipliers, violation, iterations, rounds,
            message,
        )  # fmt: skip


def _policy(solution: Solution) -> Policies:
    """The trajectory of a solution, to be rolled out again."""
    trajectory, gains = solution.trajectory, solution.gains
    assert trajectory is not None and gains is not None
    return Policies.of(trajectory.states, trajectory.inputs, gains, aux=trajectory.aux)
