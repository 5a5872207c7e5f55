"""The table of ``derivatives``: a column for each kind, a block of rows for each part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid.systems import Array
from saltus.studies.a1.derivatives.descent import DELAYS, ITERATIONS, Descent, Times, joint_gains
from saltus.studies.a1.derivatives.errors import ANALYTIC, KINDS, ONE_SIDED, STEPS, KnotErrors
from saltus.studies.a1.derivatives.prediction import HORIZONS, SIZES, Prediction
from saltus.studies.a1.derivatives.problems import SITUATIONS

ERROR, STEP, PREDICTION, DESCENT, GAIN, LOOP, TIME = (
    "error", "step", "prediction", "descent", "gain", "loop", "time",
)  # fmt: skip
SHOWN = {"part": "part", "case": "case", "measure": "measure", "count": "n"} | KINDS
QUANTILES = {"median": 50.0, "99 %": 99.0}
COST, REJECTED, RATIO = "cost/seed", "rejected", "ratio"

Row = dict[str, Any]


def row(part: str, case: str, measure: str, count: int, values: Mapping[str, Any]) -> Row:
    """One row; kinds without a value are None."""
    cells = {key: float(values[key]) if key in values else None for key in KINDS}
    return {"part": part, "case": case, "measure": measure, "count": count, **cells}


def error_rows(found: KnotErrors) -> list[Row]:
    """Errors of A and B by situation, over knots away from changes of the active set."""
    rows = []
    for situation in SITUATIONS:
        of_situation = found.situation == situation
        chosen = of_situation & found.away
        for i, matrix in enumerate("AB" if chosen.any() else ""):
            for name, q in QUANTILES.items():
                values = {key: np.percentile(found.errors[key, found.step][chosen, i], q)
                          for key in KINDS}  # fmt: skip
                made = row(ERROR, situation, f"{matrix}, {name}", int(chosen.sum()), values)
                rows.append(made | {"left_out": int(of_situation.sum() - chosen.sum())})
    return rows


def step_rows(found: KnotErrors) -> list[Row]:
    """By step of the differences, over all knots; the larger of the errors of A and of B.

    Under ``rollout_dxr`` its error against centred differences, and by situation too; under
    ``differences`` that of the planner's own, one-sided ones, against analytic derivatives.
    """
    rows = []
    for step in STEPS:
        centred = found.errors[ANALYTIC, step].max(axis=1)
        one_sided = found.errors[ONE_SIDED, step].max(axis=1)
        for name, q in QUANTILES.items():
            values = {
                ANALYTIC: np.percentile(centred, q),
                "differences": np.percentile(one_sided, q),
            }
            by_situation = {
                situation: float(np.percentile(centred[found.situation == situation], q))
                for situation in SITUATIONS if situation in found.situation
            }  # fmt: skip
            made = row(STEP, f"{step:.0e}", name, len(centred), values)
            rows.append(made | {"step": step, "situations": by_situation})
    return rows


def prediction_rows(found: Prediction) -> list[Row]:
    """Median relative error by size, horizon, and whether a foot lands."""
    rows = []
    for size in SIZES:
        for lands in (False, True):
            for i, knots in enumerate(HORIZONS):
                chosen = (found.size == size) & (found.touchdown[:, i] == lands)
                if chosen.any():
                    values = _medians(found.errors, chosen, i)
                    case = f"{size:g}{', lands' if lands else ''}"
                    label = f"{knots} knot{'s' if knots > 1 else ''}"
                    made = row(PREDICTION, case, label, int(chosen.sum()), values)
                    rows.append(made | {"size": size, "touchdown": lands, "knots": knots})
    return rows


def _medians(errors: Mapping[str, Array], chosen: NDArray[np.bool_], i: int) -> dict[str, float]:
    return {key: float(np.median(each[chosen, i])) for key, each in errors.items()}


def descent_rows(descents: Mapping[str, Descent]) -> list[Row]:
    """Line searches and costs of the first iterations."""
    count = len(next(iter(descents.values())).costs)
    rows = []
    for i in range(ITERATIONS):
        case = f"iteration {i + 1}"
        costs = {key: np.exp(np.log(d.costs[:, i]).mean()) for key, d in descents.items()}
        rejected = {key: d.rejected[:, i].mean() for key, d in descents.items()}
        rows.append(row(DESCENT, case, COST, count, costs))
        rows.append(row(DESCENT, case, REJECTED, count, rejected))
    accepted = {key: d for key, d in descents.items() if len(d.ratios)}
    ratios = {key: np.median(d.ratios) for key, d in accepted.items()}
    sizes = {key: np.median(d.step_sizes) for key, d in accepted.items()}
    return [
        *rows,
        row(DESCENT, "iteration 1", RATIO, count, ratios),
        row(DESCENT, "iteration 1", "step size", count, sizes),
    ]


def gain_rows(descents: Mapping[str, Descent]) -> list[Row]:
    """Each joint's gains by its own angle and velocity, in the first iteration."""
    own = {key: joint_gains(descent.gains) for key, descent in descents.items()}
    count = len(next(iter(own.values()))[0])
    return [
        row(GAIN, case, name, count, {key: np.percentile(each[i], q) for key, each in own.items()})
        for i, case in enumerate(("angle", "velocity"))
        for name, q in QUANTILES.items()
    ]


def loop_rows(found: Mapping[tuple[str, int], Array]) -> list[Row]:
    """Growth of small errors in the tracker's loop [1/s], by its delay."""
    count = len(next(iter(found.values())))
    return [
        row(LOOP, f"{delay} ms late", name, count,
            {key: np.percentile(found[key, delay], q) for key in KINDS})
        for delay in DELAYS
        for name, q in QUANTILES.items()
    ]  # fmt: skip


def time_rows(found: Times) -> list[Row]:
    """Medians over trajectories: of a knot on one thread, of a horizon on several."""
    rigid = found.knot_us["rigid_xi"]
    ratios = {key: each / rigid for key, each in found.knot_us.items()}
    whole = {key: round(each) for key, each in found.knot_us.items()}  # to be read with ease
    return [
        row(TIME, "knot", "us", found.count, found.knot_us) | whole,
        row(TIME, "knot", RATIO, found.count, ratios),
        row(TIME, "horizon", "ms", found.count, found.horizon_ms),
    ]
