"""The nine candidates of a line search while the A1 flips backwards and is pushed sideways.

Figure 6.1. The thesis prints the push of 0.5 m/s and the number of candidates; when the push comes
is chosen here: late in the take-off. A candidate is a step size of the backward pass's policy;
the ninth is the trajectory before the step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from studies.kong.figure_6_1.figure import flip_figure
from studies.kong.figure_6_1.flip import KNOTS, PUSH, PUSH_AT, Flip, flip_config, pushed_flip
from studies.study import Criterion, StudyOptions, StudyResult, study

CANDIDATES = 9
SHOWN = {
    "step_size": "step size", "cost": "cost", "change_percent": "change [%]",
    "height_m": "height [m]", "lateral_m": "lateral [m]", "chosen": "chosen",
}  # fmt: skip


@dataclass(frozen=True)
class CandidateRow:
    """One candidate; change of the cost from step size zero, trunk at the end of the horizon."""

    step_size: float
    cost: float | None  # None: it diverged
    change_percent: float | None
    height_m: float
    lateral_m: float
    chosen: bool


@study("Kong, figure 6.1", "seed")
def run(options: StudyOptions) -> StudyResult:
    """A row for each candidate."""
    flip = pushed_flip(flip_config(options.seed), options.progress)
    return StudyResult(
        rows_of(flip), {"figure-6.1": flip_figure(flip)}, notes(flip), SHOWN, 3, criteria(flip)
    )


def rows_of(flip: Flip) -> list[CandidateRow]:
    """The rows, from the largest step size to zero."""
    search = flip.search
    before = float(search.costs[-1])
    rows = []
    for candidate, (size, cost) in enumerate(zip(search.step_sizes, search.costs, strict=True)):
        finite = bool(np.isfinite(cost))
        end = search.states[candidate, -1]
        rows.append(CandidateRow(
            float(size), float(cost) if finite else None,
            100.0 * (float(cost) / before - 1.0) if finite else None,
            float(end[2]), float(end[1]), candidate == search.chosen,
        ))  # fmt: skip
    return rows


def criteria(flip: Flip) -> list[Criterion]:
    """What the figure shows: nine candidates, one better than going on, and a flip that succeeds.

    Costs that differ when rolled out again would mean that the poses are not the planner's.
    """
    search = flip.search
    differences = search.repeated_costs != search.costs
    return [
        Criterion("candidates", len(search.costs), ">=", CANDIDATES),
        Criterion("candidates whose cost differs when rolled out again", int(differences.sum()),
                  "<=", 0),
        Criterion("cost of the chosen candidate over that of the previous plan's continuation",
                  float(search.costs.min()) / search.continuation, "<", 1.0),
        Criterion("turns backwards", -flip.turns, ">", 0.95),
        Criterion("falls, or touches of the trunk", int(flip.fell) + int(flip.trunk_touched),
                  "<=", 0),
        Criterion("stands at the end", int(flip.stands), ">=", 1),
    ]  # fmt: skip


def notes(flip: Flip) -> list[str]:
    """The push, the choice, and how the flip ends."""
    search = flip.search
    chosen = search.costs[search.chosen]
    less = 100.0 * (1.0 - chosen / search.continuation)
    better = np.flatnonzero(search.costs[:-1] < search.costs[-1])
    in_turn = (
        f"One after the other, from the largest, try {better[0] + 1} is the first "
        "that lowers the cost."
        if len(better) else "Here no step size lowers the cost."
    )  # fmt: skip
    landed = "touches the ground with its trunk" if flip.trunk_touched else "lands on its feet"
    end = "falls" if flip.fell else "stands at the end" if flip.stands else "does not come to rest"
    return [
        f"A push of {PUSH:g} m/s to the left at {PUSH_AT:g} s; the first plan after it starts at "
        f"{search.begin:.2f} s, with a horizon of {KNOTS} knots.",
        f"The chosen step size is {search.step_sizes[search.chosen]:g}. Its cost is {chosen:.1f}, "
        f"that of the previous plan's continuation {search.continuation:.1f} ({less:.0f} % less); "
        f"after all iterations the plan costs {search.plan_cost:.1f}.",
        in_turn,
        f"The A1 {landed} after {-flip.turns:.2f} turns backwards and {end}, at most "
        f"{flip.deviation:.2f} m aside.",
        "Other than in the launch `backflip`, the horizon reaches beyond the landing, all step "
        "sizes are tried at once, and the planner keeps no limits.",
    ]
