"""Derivatives of the planner's model: rigid, of soft contact, by differences.

`rigid`: sticking feet and saltation matrices, as in the thesis; `rollout`: MuJoCo's soft step,
differentiated analytically; `differences`: the same by finite differences. Each with saltation
matrices at touchdowns (Xi) or the reset's Jacobian alone (DxR), where it has them.

error: relative error of A or B against centred differences with contacts solved to tolerance 0, in
knots where these agree with those of a tenth of the step to 1e-4; reference_step is theirs, where
truncation and rounding balance. step: larger relative error of A and B over all knots, of rollout
DxR against centred differences, and of the planner's one-sided differences against rollout DxR.
prediction: median relative error of a predicted deviation under the same feedback, by size of the
initial deviation (1: 3 mm, 0.01 rad, 0.1 m/s and rad/s) and with or without a touchdown. descent:
solves of the planner, seeded by its earlier plans; costs are geometric means, ratio is the median
of actual over expected change (5.19). gain: of a joint by its own angle [N m/rad] and velocity
[N m s/rad]. loop: fastest growth of an error [1/s] under gains and delay, at a fixed state. time:
of a knot on one thread, its ratio to rigid Xi, and of a horizon on two threads, on this computer.

Rollout Xi changes A at touchdowns, because it is the derivative of a mean over landing times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from controller.planner_options import PlannerOptions
from hybrid.systems import Array
from studies.a1.derivatives_measures import (
    ANALYTIC,
    DELAYS,
    HORIZONS,
    ITERATIONS,
    KINDS,
    ONE_SIDED,
    SITUATIONS,
    SIZES,
    STEPS,
    Descent,
    KnotErrors,
    Prediction,
    Problem,
    Times,
    descend,
    joint_gains,
    kinds_of,
    measure_errors,
    measure_loops,
    measure_times,
    predict,
    record,
    spread,
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
SHOWN = {"part": "part", "case": "case", "measure": "measure", "count": "n"} | KINDS
QUANTILES = {"median": 50.0, "99 %": 99.0}
Row = dict[str, Any]


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
    return StudyResult(rows, figures, columns=SHOWN, digits=2)


def cells(part: str, case: str, measure: str, count: int, values: Mapping[str, Any]) -> Row:
    """One measure of all kinds of derivatives; None where a kind has no value."""
    numbers = {key: float(values[key]) if key in values else None for key in KINDS}
    return {"part": part, "case": case, "measure": measure, "count": count} | numbers


def error_rows(measured: KnotErrors) -> list[Row]:
    """Errors of A and B by situation, over knots away from changes of the active set."""
    rows = []
    for situation in SITUATIONS:
        of_situation = measured.situation == situation
        chosen = of_situation & measured.away
        for i, matrix in enumerate("AB" if chosen.any() else ""):
            for name, q in QUANTILES.items():
                values = {key: np.percentile(measured.errors[key, measured.step][chosen, i], q)
                          for key in KINDS}  # fmt: skip
                left_out = int(of_situation.sum() - chosen.sum())
                rows.append(
                    cells("error", situation, f"{matrix}, {name}", int(chosen.sum()), values)
                    | {"left_out": left_out, "reference_step": measured.step}
                )
    return rows


def step_rows(measured: KnotErrors) -> list[Row]:
    """By step of the differences, over all knots; the larger of the errors of A and of B.

    Under ``rollout_dxr`` its error against centred differences, and by situation too; under
    ``differences`` that of the planner's own, one-sided ones, against analytic derivatives.
    """
    rows = []
    for step in STEPS:
        centred = measured.errors[ANALYTIC, step].max(axis=1)
        one_sided = measured.errors[ONE_SIDED, step].max(axis=1)
        for name, q in QUANTILES.items():
            values = {
                ANALYTIC: np.percentile(centred, q),
                "differences": np.percentile(one_sided, q),
            }
            by_situation = {
                situation: float(np.percentile(centred[measured.situation == situation], q))
                for situation in SITUATIONS if situation in measured.situation
            }  # fmt: skip
            rows.append(
                cells("step", f"{step:.0e}", name, len(centred), values)
                | {"step": step, "situations": by_situation}
            )
    return rows


def prediction_rows(measured: Prediction) -> list[Row]:
    """Median relative error by size, horizon, and whether a foot lands."""
    rows = []
    for size in SIZES:
        for lands in (False, True):
            for i, knots in enumerate(HORIZONS):
                chosen = (measured.size == size) & (measured.touchdown[:, i] == lands)
                if chosen.any():
                    values = {k: np.median(e[chosen, i]) for k, e in measured.errors.items()}
                    case = f"{size:g}{', lands' if lands else ''}"
                    label = f"{knots} knot{'s' if knots > 1 else ''}"
                    rows.append(
                        cells("prediction", case, label, int(chosen.sum()), values)
                        | {"size": size, "touchdown": lands, "knots": knots}
                    )
    return rows


def descent_rows(descents: Mapping[str, Descent]) -> list[Row]:
    """Line searches and costs of the first iterations."""
    count = len(next(iter(descents.values())).costs)
    rows = []
    for i in range(ITERATIONS):
        case = f"iteration {i + 1}"
        costs = {key: np.exp(np.log(d.costs[:, i]).mean()) for key, d in descents.items()}
        rejected = {key: d.rejected[:, i].mean() for key, d in descents.items()}
        rows.append(cells("descent", case, "cost/seed", count, costs))
        rows.append(cells("descent", case, "rejected", count, rejected))
    accepted = {key: d for key, d in descents.items() if len(d.ratios)}
    ratios = {key: np.median(d.ratios) for key, d in accepted.items()}
    sizes = {key: np.median(d.step_sizes) for key, d in accepted.items()}
    return [
        *rows,
        cells("descent", "iteration 1", "ratio", count, ratios),
        cells("descent", "iteration 1", "step size", count, sizes),
    ]


def gain_rows(descents: Mapping[str, Descent]) -> list[Row]:
    """Each joint's gains by its own angle and velocity, in the first iteration."""
    own = {key: joint_gains(descent.gains) for key, descent in descents.items()}
    count = len(next(iter(own.values()))[0])
    return [
        cells("gain", case, name, count,
              {key: np.percentile(each[i], q) for key, each in own.items()})
        for i, case in enumerate(("angle", "velocity"))
        for name, q in QUANTILES.items()
    ]  # fmt: skip


def loop_rows(measured: Mapping[tuple[str, int], Array]) -> list[Row]:
    """Growth of small errors in the tracker's loop [1/s], by its delay."""
    count = len(next(iter(measured.values())))
    return [
        cells("loop", f"{delay} ms late", name, count,
              {key: np.percentile(measured[key, delay], q) for key in KINDS})
        for delay in DELAYS
        for name, q in QUANTILES.items()
    ]  # fmt: skip


def time_rows(measured: Times) -> list[Row]:
    """Medians over trajectories: of a knot on one thread, of a horizon on several."""
    rigid = measured.knot_us["rigid_xi"]
    ratios = {key: each / rigid for key, each in measured.knot_us.items()}
    whole = {key: round(each) for key, each in measured.knot_us.items()}  # to be read with ease
    return [
        cells("time", "knot", "us", measured.count, {}) | whole,
        cells("time", "knot", "ratio", measured.count, ratios),
        cells("time", "horizon", "ms", measured.count, measured.horizon_ms),
    ]


def draw(rows: Sequence[Any]) -> Figure:
    """Three panels from the rows of the table."""
    drawing, (left, middle, right) = figure(columns=3, width=11.0, height=4.2)
    _draw_steps(left, [row for row in rows if row["part"] == "step"])
    _draw_predictions(middle, [row for row in rows if row["part"] == "prediction"])
    _draw_descent(right, [row for row in rows if row["part"] == "descent"])
    return drawing


def _draw_steps(panel: Any, rows: Sequence[Any]) -> None:
    """Median (solid) and 99 % (dashed) of the error of rollout DxR, by situation."""
    for situation, colour in zip(rows[0]["situations"], _SITUATIONS, strict=False):
        for measure, line in (("median", "-"), ("99 %", "--")):
            own = [row for row in rows if row["measure"] == measure]
            panel.loglog([row["step"] for row in own],
                         [row["situations"][situation] for row in own], line, color=colour,
                         linewidth=1.2, label=situation if line == "-" else None)  # fmt: skip
    panel.set(xlabel="step of the differences", ylabel="error against centred differences")
    panel.set_title("A and B of rollout DxR", fontsize=10)
    _explain(panel, "median", "99 %")


def _draw_predictions(panel: Any, rows: Sequence[Any]) -> None:
    """Median error against the horizon where a foot lands within it, by kind."""
    own = [row for row in rows if row["touchdown"]]
    for key, (colour, marker, size) in _KINDS.items():
        for (dx, line), label in zip(_SIZES.items(), (KINDS[key], None), strict=True):
            of_size = [row for row in own if row["size"] == dx]
            errors = [row[key] for row in of_size]
            panel.loglog([row["knots"] for row in of_size], errors, line, marker=marker,
                         markersize=size, color=colour, linewidth=1.2, label=label)  # fmt: skip
    knots = sorted({row["knots"] for row in own})
    panel.set_xticks(knots, [str(each) for each in knots], minor=False)
    panel.set_xticks([], minor=True)
    panel.set(xlabel="horizon [knots]", ylabel="error over the true deviation")
    panel.set_title("prediction across touchdowns", fontsize=10)
    _explain(panel, *(f"size {size:g}" for size in _SIZES))


def _draw_descent(panel: Any, rows: Sequence[Any]) -> None:
    """Cost against the share of rejected line searches, from the first iteration to the second."""
    names = "cost/seed", "rejected"
    costs, rejected = ([row for row in rows if row["measure"] == name] for name in names)
    for key, (colour, marker, size) in _KINDS.items():
        x, y = [100.0 * row[key] for row in rejected], [row[key] for row in costs]
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
