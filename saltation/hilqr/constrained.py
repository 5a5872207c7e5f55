"""HiLQR with inequality constraints: solves for the policy, then for the multipliers, in turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from saltation.hilqr.bounds import InputBounds
from saltation.hilqr.constraints import ConstrainedModel, Constraints, Violation
from saltation.hilqr.options import HilqrOptions
from saltation.hilqr.solver import Hilqr
from saltation.hilqr.types import Array, Model, Policies, Trajectory

ConstrainedStatus = Literal[
    "converged",  # the policy is optimal: no constraint is violated, and none pulls off its bound
    "settled",  # none is violated, and a round changed the cost by little
    "infeasible",  # a violation remains at the largest penalty
    "not_converged",  # rounds were too few, or HiLQR had no policy to go on from
    "failed",  # no trajectory could be rolled out
]

ENOUGH = 0.25  # of the last violation: where less was gained the penalty grows


@dataclass(frozen=True)
class ConstraintOptions:
    """Options of the constraints.

    Attributes:
        tolerance: violation that counts as none, in the constraint's own unit, and distance from
            a constraint that still may pull.
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

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: there is no round, or the penalty cannot grow.
        """
        if self.max_rounds < 1 or not (self.penalty > 0.0 and self.growth > 1.0):
            raise ValueError(f"{self}: give one round or more, a positive penalty, growth above 1")


class ConstrainedSolution(NamedTuple):
    """End of a solve. ``trajectory`` is None only with status "failed".

    ``trajectory.cost`` has no part of the constraints.
    """

    status: ConstrainedStatus
    trajectory: Trajectory | None
    gains: Array | None  # (N, m, n)
    multipliers: Array  # (N+1, P) lambda, the forces with which constraints pull
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
        bounds: InputBounds | None = None,
    ) -> None:
        """Bind a model and its constraints.

        Args:
            model: see `Hilqr`.
            constraints: enforced by multipliers.
            options: of each round's solve.
            constraint_options: of the rounds.
            bounds: of the inputs, kept by backward pass and rollouts instead of multipliers.
        """
        self.options = constraint_options or ConstraintOptions()
        self.model = ConstrainedModel(model, constraints, self.options.penalty)
        self.solver = Hilqr(self.model, options, bounds)

    def solve(self, x0: Array, seed: Policies) -> ConstrainedSolution:
        """Solve from the best of the seed's candidates, with multipliers of zero.

        A round solves for the policy at fixed multipliers, and then updates them. The penalty grows
        where the violation did not shrink enough.

        Args:
            x0: initial state (nx,).
            seed: policies to start from; they may violate constraints.
        """
        options, model = self.options, self.model
        model.restart(options.penalty)
        iterations, last, cost, result = 0, np.inf, np.inf, None
        for rounds in range(1, options.max_rounds + 1):
            step = self.solver.solve(x0, seed)
            iterations += step.iterations
            if step.trajectory is None:
                nowhere = Violation(np.inf, 0, "")
                return ConstrainedSolution(
                    "failed", None, None, model.multipliers, nowhere, iterations, rounds,
                    step.message,
                )  # fmt: skip
            before, cost = cost, model.cost(step.trajectory)
            violation, residual = model.violation(step.trajectory), model.residual(step.trajectory)
            model.update_multipliers(step.trajectory)
            result = ConstrainedSolution(
                "not_converged", step.trajectory._replace(cost=cost), step.gains,
                model.multipliers, violation, iterations, rounds, step.message,
            )  # fmt: skip
            if step.gains is None:  # no backward pass was possible
                return result
            if step.status == "converged" and residual <= options.tolerance:
                return result._replace(status="converged", message="")
            met = violation.value <= options.tolerance
            if met and abs(before - cost) < options.settled * abs(cost):
                return result._replace(status="settled", message="")
            if not met and model.penalty >= options.most_penalty:
                message = f"{violation}, whatever the penalty: loosen it, or try another seed"
                return result._replace(status="infeasible", message=message)
            if not met and violation.value > ENOUGH * last:
                model.penalty = min(options.growth * model.penalty, options.most_penalty)
            last = violation.value
            found = step.trajectory
            seed = Policies.of(found.states, found.inputs, step.gains, aux=found.aux)
        assert result is not None, "see ConstraintOptions.max_rounds"
        if result.violation.value <= options.tolerance:
            return result
        message = f"{result.violation} after {result.rounds} rounds: allow more"
        return result._replace(message=message)
