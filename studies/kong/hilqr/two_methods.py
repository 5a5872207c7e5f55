"""One trajectory optimisation by both backward passes: saltation matrices, and reset Jacobians."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, get_args

import numpy as np

from hybrid.hilqr import Hilqr, HilqrOptions, Policies, Solution, Trajectory, backward_pass
from hybrid.hilqr.event_driven import EventDrivenModel
from hybrid.hilqr.event_linearisation import Placement
from hybrid.hilqr.riccati import Variant
from hybrid.systems import Array
from studies.study import silent

METHODS: tuple[Variant, ...] = ("xi", "dxr")
CUT_OFF = 0.05  # |dJ| at which a solve has converged: 5.4.1 prints it for the bouncing ball
MAX_ITERATIONS = 100
CUT_OFF_NOTE = f"Both methods stop at |dJ| <= {CUT_OFF} (5.4.1 prints it for the bouncing ball)."
PLACEMENTS: Mapping[Placement, str] = {
    "exact": "events at their own times",
    "end": "events at the end of their timestep, followed by the next input",
    "end_held": "events at the end of their timestep, with the same input before and after (5.3.3)",
}
SHOWN = (
    "method",
    "cost",
    "expected_reduction",
    "converged",
    "true_expected_reduction",
    "iterations",
    "contacts",
)  # keys in the table for a person
TRUE_NOTE = (
    "true_expected_reduction: |dJ| of a backward pass with saltation matrices about either"
    " trajectory, that is the improvement that is still possible."
)


@dataclass(frozen=True)
class MethodRow:
    """One method's solution."""

    method: str
    cost: float
    expected_reduction: float | None
    converged: bool
    true_expected_reduction: float | None
    iterations: int
    contacts: int
    final_mode: str
    final_state: list[float]


class Comparison(NamedTuple):
    """Both solutions of one problem, and the trajectory that they started from."""

    model: EventDrivenModel
    seed: Trajectory
    solutions: Mapping[Variant, Solution]

    def trajectories(self) -> dict[str, Trajectory]:
        """What a figure shows: the seed and both ends, those that there are."""
        trajectories = {"seed": self.seed}
        for method, solution in self.solutions.items():
            if solution.trajectory is not None:
                trajectories[method] = solution.trajectory
        return trajectories

    def rows(self, impact: str) -> list[MethodRow]:
        """Rows of the table; ``contacts`` counts the transitions that are named ``impact``."""
        return [self._row(method, impact) for method in self.solutions]

    def note(self) -> str:
        """One line for a person: how each method ended, and how events were placed."""
        ends = [
            f"{method} {solution.status.replace('_', ' ')} at cost {solution.trajectory.cost:.4g}"
            f" with |dJ| {abs(solution.expected_change):.2g}"
            for method, solution in self.solutions.items()
            if solution.trajectory is not None
        ]
        return f"With {PLACEMENTS[self.model.event_at]}: {', '.join(ends)}."

    def _row(self, method: Variant, impact: str) -> MethodRow:
        """``true_expected_reduction`` is |dJ| of the right derivatives, whatever the method."""
        solution = self.solutions[method]
        end = solution.trajectory
        assert end is not None  # the seed rolled out, so a solve has at least that
        names = [happened.event.transition.name for happened in end.aux.events]
        return MethodRow(
            method=method,
            cost=end.cost,
            expected_reduction=magnitude(solution.expected_change),
            converged=solution.status == "converged",
            true_expected_reduction=self._true_reduction(end),
            iterations=solution.iterations,
            contacts=names.count(impact),
            final_mode=self.model.system.modes[int(end.aux.knots[-1])].name,
            final_state=[float(value) for value in end.states[-1]],
        )

    def _true_reduction(self, end: Trajectory) -> float | None:
        backward = backward_pass(self.model.linearise(end), self.model.quadratise(end))
        return magnitude(backward.expected_change()) if backward.ok else None


def magnitude(change: float) -> float | None:
    """|dJ| for a row; None where the input Hessians are not positive definite, so there is none."""
    return abs(change) if np.isfinite(change) else None


def placement_notes(solve: Callable[[Placement], Comparison], used: Placement) -> tuple[str, ...]:
    """How events were placed, and how the methods end with the other placements."""
    others = [solve(placement).note() for placement in get_args(Placement) if placement != used]
    return (f"Rows: {PLACEMENTS[used]}.", *others)


def ends_note(beginning: str, ends: Sequence[Mapping[Variant, Solution]]) -> str:
    """One line: how often each method converged, and where both did, whose cost was lower."""
    counts = {m: sum(one[m].status == "converged" for one in ends) for m in METHODS}
    both = [
        tuple(one[m].trajectory.cost for m in METHODS)  # type: ignore[union-attr]
        for one in ends
        if all(one[m].status == "converged" for m in METHODS)
    ]
    lower = sum(xi < dxr for xi, dxr in both)
    converged = ", ".join(f"{method} converged from {count}" for method, count in counts.items())
    return (
        f"{beginning}, {converged}; both converged from {len(both)}, and xi had the lower cost in"
        f" {lower} of these."
    )


def compare(
    model: EventDrivenModel,
    x0: Array,
    inputs: Array,
    progress: Callable[[int, int, str], None] = silent,
    cut_off: float = CUT_OFF,
) -> Comparison:
    """Solve from one seed, inputs (N, m) without feedback, by each method with the same options.

    Raises:
        ValueError: the seed's rollout fails.
    """
    states = np.zeros((len(inputs) + 1, len(x0)))
    seed = Policies.of(states, inputs, np.zeros((*inputs.shape, len(x0))))
    rolled = Hilqr(model).start(x0, seed)
    if rolled is None:
        raise ValueError("the seed's rollout fails: choose inputs or a start that can be simulated")
    solutions: dict[Variant, Solution] = {}
    for done, method in enumerate(METHODS):
        progress(done, len(METHODS), method)
        options = HilqrOptions(tolerance=cut_off, max_iterations=MAX_ITERATIONS, variant=method)
        solutions[method] = Hilqr(model, options).solve(x0, seed)
    progress(len(METHODS), len(METHODS), "solved")
    return Comparison(model, rolled, solutions)
