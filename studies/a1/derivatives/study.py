"""Derivatives of the planner's model: rigid, of soft contact, by differences.

`rigid`: sticking feet and saltation matrices, as in the thesis; `rollout`: MuJoCo's soft step,
differentiated analytically; `differences`: the same by finite differences. Each with saltation
matrices at touchdowns (Xi) or the reset's Jacobian alone (DxR), where it has them. Compared are
errors of A and B, predictions under feedback, descent of the cost, gains, their loop, and time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from controller.planner_options import PlannerOptions
from studies.a1.derivatives.descent import descend, measure_loops, measure_times
from studies.a1.derivatives.errors import ANALYTIC, KINDS, kinds_of, measure_errors
from studies.a1.derivatives.notes import notes
from studies.a1.derivatives.prediction import predict
from studies.a1.derivatives.problems import Problem, record, spread
from studies.a1.derivatives.rows import (
    COST,
    DESCENT,
    PREDICTION,
    REJECTED,
    SHOWN,
    STEP,
    descent_rows,
    error_rows,
    gain_rows,
    loop_rows,
    prediction_rows,
    step_rows,
    time_rows,
)
from studies.figures import figure
from studies.study import StudyOptions, StudyResult, study

_SIZES = {0.1: "-", 1.0: "--"}  # of the perturbations that are drawn
_KINDS = {
    "rigid_xi": ("tab:red", "s", 5), "rigid_dxr": ("tab:orange", "s", 5),
    "differences": ("tab:gray", "o", 8), "rollout_dxr": ("tab:blue", "o", 4),
    "rollout_xi": ("tab:green", "o", 4),
}  # fmt: skip  # colour, marker and its size; the last lies on top
_SITUATIONS = (
    "tab:gray",
    "tab:blue",
    "tab:purple",
    "tab:brown",
    "tab:olive",
    "tab:red",
    "tab:green",
)
PUSHES, FULL_PUSHES = 2, 8  # of each gait
TRAJECTORIES, FULL_TRAJECTORIES = 14, 60  # of which differences are taken with every step
TIMED = 12  # trajectories


def draw(rows: Sequence[Any]) -> Figure:
    """Three panels from the rows of the table."""
    drawing, (left, middle, right) = figure(columns=3, width=11.0, height=4.2)
    _draw_steps(left, [row for row in rows if row.part == STEP])
    _draw_predictions(middle, [row for row in rows if row.part == PREDICTION])
    _draw_descent(right, [row for row in rows if row.part == DESCENT])
    return drawing


def _draw_steps(panel: Any, rows: Sequence[Any]) -> None:
    """Median (solid) and 99 % (dashed) of the error of rollout DxR, by situation."""
    for situation, colour in zip(rows[0].situations, _SITUATIONS, strict=False):
        for measure, line in (("median", "-"), ("99 %", "--")):
            own = [row for row in rows if row.measure == measure]
            panel.loglog([row.step for row in own],
                         [row.situations[situation] for row in own], line, color=colour,
                         linewidth=1.2, label=situation if line == "-" else None)  # fmt: skip
    panel.set(xlabel="step of the differences", ylabel="error against centred differences")
    panel.set_title("A and B of rollout DxR", fontsize=10)
    _explain(panel, "median", "99 %")


def _draw_predictions(panel: Any, rows: Sequence[Any]) -> None:
    """Median error against the horizon where a foot lands within it, by kind."""
    own = [row for row in rows if row.touchdown]
    for key, (colour, marker, size) in _KINDS.items():
        for (dx, line), label in zip(_SIZES.items(), (KINDS[key], None), strict=True):
            of_size = [row for row in own if row.size == dx]
            errors = [getattr(row, key) for row in of_size]
            panel.loglog([row.knots for row in of_size], errors, line, marker=marker,
                         markersize=size, color=colour, linewidth=1.2, label=label)  # fmt: skip
    knots = sorted({row.knots for row in own})
    panel.set_xticks(knots, [str(each) for each in knots], minor=False)
    panel.set_xticks([], minor=True)
    panel.set(xlabel="horizon [knots]", ylabel="error over the true deviation")
    panel.set_title("prediction across touchdowns", fontsize=10)
    _explain(panel, *(f"size {size:g}" for size in _SIZES))


def _draw_descent(panel: Any, rows: Sequence[Any]) -> None:
    """Cost against the share of rejected line searches, from the first iteration to the second."""
    costs, rejected = ([r for r in rows if r.measure == name] for name in (COST, REJECTED))
    for key, (colour, marker, size) in _KINDS.items():
        x, y = [100.0 * getattr(row, key) for row in rejected], [getattr(row, key) for row in costs]
        panel.plot(x, y, "-", marker=marker, markersize=size, color=colour, linewidth=1.2)
        for number, *place in zip(range(1, len(x) + 1), x, y, strict=True):
            shift = (-13, -6) if key == "differences" else (6, 4)  # beside rollout's
            panel.annotate(str(number), place, xytext=shift, textcoords="offset points",
                           color=colour, fontsize=8)  # fmt: skip
    panel.set(xlabel="line searches rejected [%]", ylabel="cost over the seed's")
    panel.set_title("iterations 1 and 2", fontsize=10)
    panel.margins(0.1)


def _explain(panel: Any, solid: str, dashed: str) -> None:
    """The legend below the panel, with the meaning of the lines."""
    panel.plot([], [], "k-", linewidth=1.2, label=solid)
    panel.plot([], [], "k--", linewidth=1.2, label=dashed)
    panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, frameon=False,
                 fontsize=7)  # fmt: skip


@study("the A1's planner", "trials", "seed", "full")
def run(options: StudyOptions) -> StudyResult:
    """Rows of all parts; ``trials`` is the number of pushes of each gait.

    Raises:
        BadRequest: the suite has not so many pushes.
    """
    return compare(record(options.count(PUSHES, FULL_PUSHES), options.progress), options)


def compare(problems: Sequence[Problem], options: StudyOptions) -> StudyResult:
    """Compare all kinds on these problems."""
    planner, progress = PlannerOptions(), options.progress
    kinds = kinds_of(planner)
    some = spread(problems, FULL_TRAJECTORIES if options.full else TRAJECTORIES)
    errors = measure_errors(some, kinds, planner, progress)
    descents = {kind.key: descend(problems, kind, planner, progress) for kind in kinds}
    gains = descents[ANALYTIC].gains  # close the loop of predictions
    prediction = predict(problems, gains, kinds, planner, options.seed, progress)
    loops = measure_loops(problems, {k: d.gains for k, d in descents.items()}, progress)
    times = measure_times(spread(problems, TIMED), kinds, planner, progress)
    rows = [
        *error_rows(errors), *step_rows(errors), *prediction_rows(prediction),
        *descent_rows(descents), *gain_rows(descents), *loop_rows(loops), *time_rows(times),
    ]  # fmt: skip
    figures = {"derivatives": draw(rows)}
    return StudyResult(rows, figures, notes(rows, errors.step), SHOWN, digits=2)
