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
    all_kinds,
    descend,
    joint_gains,
    measure_errors,
    measure_loops,
    measure_times,
    predict,
    record,
    spread,
)
from studies.figures import Panel, draw, over
from studies.study import StudyOptions, StudyResult, study

_KINDS = {
    "rigid_xi": ("tab:red", "s"), "rigid_dxr": ("tab:orange", "s"),
    "differences": ("tab:gray", "D"), "rollout_dxr": ("tab:blue", "o"),
    "rollout_xi": ("tab:green", "o"),
}  # fmt: skip  # colour and marker; the last lies on top
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
    return compare(record(options.count(PUSHES, FULL_PUSHES), options), options)


def compare(problems: Sequence[Problem], options: StudyOptions) -> StudyResult:
    """Compare all kinds on these problems."""
    kinds = all_kinds()
    some = spread(problems, FULL_TRAJECTORIES if options.full else TRAJECTORIES)
    errors = measure_errors(some, kinds, options)
    descents = {kind.key: descend(problems, kind, options) for kind in kinds}
    gains = descents[ANALYTIC].gains  # close the loop of predictions
    prediction = predict(problems, gains, kinds, options)
    loops = measure_loops(problems, {k: d.gains for k, d in descents.items()}, options)
    times = measure_times(spread(problems, TIMED), kinds, options)
    rows = [
        *error_rows(errors), *step_rows(errors), *prediction_rows(prediction),
        *descent_rows(descents), *gain_rows(descents), *loop_rows(loops), *time_rows(times),
    ]  # fmt: skip
    figures = {"derivatives": figure_of(rows)}
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


def figure_of(rows: Sequence[Row]) -> Figure:
    """Errors by the step, of predictions by the horizon, and the cost over rejected searches."""

    def of(**values: Any) -> list[Row]:
        return [row for row in rows if all(row.get(key) == values[key] for key in values)]

    looks = {key: {"color": colour, "marker": mark} for key, (colour, mark) in _KINDS.items()}
    by_step = {
        f"{mark}{situation}": over([row["step"] for row in own],
                                   [row["situations"][situation] for row in own],
                                   color=f"C{i}", linestyle=line)
        for mark, measure, line in (("", "median", "-"), ("_", "99 %", "--"))
        for own in (of(part="step", measure=measure),)
        for i, situation in enumerate(own[0]["situations"])
    }  # fmt: skip
    by_horizon = {
        f"{mark}{KINDS[key]}": over([row["knots"] for row in own], [row[key] for row in own],
                                    linestyle=line, **look)
        for mark, size, line in (("", 0.1, "-"), ("_", 1.0, "--"))
        for own in (of(part="prediction", touchdown=True, size=size),) if own
        for key, look in looks.items()
    }  # fmt: skip
    rejected, costs = of(measure="rejected"), of(measure="cost/seed")
    descents = {
        KINDS[key]: over([100.0 * row[key] for row in rejected], [row[key] for row in costs],
                         markevery=[0], **look)
        for key, look in looks.items()
    }  # fmt: skip
    log = {"xscale": "log", "yscale": "log"}
    return draw(
        Panel(by_step, "step of the differences", "error against centred differences",
              settings=log | {"title": "A and B of rollout DxR; dashed: 99 %"}),
        Panel(by_horizon, "horizon [knots]", "error over the true deviation",
              settings=log | {"title": "across touchdowns, sizes 0.1 and 1 (dashed)"}),
        Panel(descents, "line searches rejected [%]", "cost over the seed's",
              settings={"title": "iterations 1 (marked) and 2"}),
        width=3.7, height=4.2,
    )  # fmt: skip
