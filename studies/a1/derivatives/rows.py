"""The table of ``derivatives``: a column for each kind, a block of rows for each part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid.systems import Array
from studies.a1.derivatives.descent import DELAYS, ITERATIONS, Descent, Times, joint_gains
from studies.a1.derivatives.errors import ANALYTIC, KINDS, ONE_SIDED, STEPS, KnotErrors
from studies.a1.derivatives.prediction import HORIZONS, SIZES, Prediction
from studies.a1.derivatives.problems import SITUATIONS

ERROR, STEP, PREDICTION, DESCENT, GAIN, LOOP, TIME = (
    "error", "step", "prediction", "descent", "gain", "loop", "time",
)  # fmt: skip
SHOWN = {"part": "part", "case": "case", "measure": "measure", "count": "n"} | KINDS
QUANTILES = {"median": 50.0, "99 %": 99.0}
COST, REJECTED, RATIO = "cost/seed", "rejected", "ratio"


@dataclass(frozen=True)
class Row:
    """One measure of all kinds of derivatives; None where a kind has no value."""

    part: str
    case: str
    measure: str
    count: int
    rigid_xi: float | None = None
    rigid_dxr: float | None = None
    rollout_dxr: float | None = None
    rollout_xi: float | None = None
    differences: float | None = None


@dataclass(frozen=True)
class ErrorRow(Row):
    """Errors in one situation."""

    left_out: int = 0  # knots near changes of the active set


@dataclass(frozen=True)
class StepRow(Row):
    """Errors with one step of the differences."""

    step: float = 0.0
    situations: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class PredictionRow(Row):
    """Errors of predictions over one horizon."""

    size: float = 0.0  # of the perturbation, in parts of `SCALE`
    touchdown: bool = False
    knots: int = 0


def cells(values: Mapping[str, Any]) -> dict[str, float]:
    """Values by kind, as plain numbers."""
    return {key: float(value) for key, value in values.items()}


def error_rows(measured: KnotErrors) -> list[ErrorRow]:
    """Errors of A and B by situation, over knots away from changes of the active set."""
    rows = []
    for situation in SITUATIONS:
        of_situation = measured.situation == situation
        chosen = of_situation & measured.away
        for i, matrix in enumerate("AB" if chosen.any() else ""):
            for name, q in QUANTILES.items():
                values = {key: np.percentile(measured.errors[key, measured.step][chosen, i], q)
                          for key in KINDS}  # fmt: skip
                rows.append(ErrorRow(
                    ERROR, situation, f"{matrix}, {name}", int(chosen.sum()), **cells(values),
                    left_out=int(of_situation.sum() - chosen.sum()),
                ))  # fmt: skip
    return rows


def step_rows(measured: KnotErrors) -> list[StepRow]:
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
            rows.append(StepRow(
                STEP, f"{step:.0e}", name, len(centred), **cells(values), step=step,
                situations=by_situation,
            ))  # fmt: skip
    return rows


def prediction_rows(measured: Prediction) -> list[PredictionRow]:
    """Median relative error by size, horizon, and whether a foot lands."""
    rows = []
    for size in SIZES:
        for lands in (False, True):
            for i, knots in enumerate(HORIZONS):
                chosen = (measured.size == size) & (measured.touchdown[:, i] == lands)
                if chosen.any():
                    values = _medians(measured.errors, chosen, i)
                    case = f"{size:g}{', lands' if lands else ''}"
                    label = f"{knots} knot{'s' if knots > 1 else ''}"
                    rows.append(PredictionRow(
                        PREDICTION, case, label, int(chosen.sum()), **cells(values), size=size,
                        touchdown=lands, knots=knots,
                    ))  # fmt: skip
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
        rows.append(Row(DESCENT, case, COST, count, **cells(costs)))
        rows.append(Row(DESCENT, case, REJECTED, count, **cells(rejected)))
    accepted = {key: d for key, d in descents.items() if len(d.ratios)}
    ratios = {key: np.median(d.ratios) for key, d in accepted.items()}
    sizes = {key: np.median(d.step_sizes) for key, d in accepted.items()}
    return [
        *rows,
        Row(DESCENT, "iteration 1", RATIO, count, **cells(ratios)),
        Row(DESCENT, "iteration 1", "step size", count, **cells(sizes)),
    ]


def gain_rows(descents: Mapping[str, Descent]) -> list[Row]:
    """Each joint's gains by its own angle and velocity, in the first iteration."""
    own = {key: joint_gains(descent.gains) for key, descent in descents.items()}
    count = len(next(iter(own.values()))[0])
    return [
        Row(GAIN, case, name, count,
            **cells({key: np.percentile(each[i], q) for key, each in own.items()}))
        for i, case in enumerate(("angle", "velocity"))
        for name, q in QUANTILES.items()
    ]


def loop_rows(measured: Mapping[tuple[str, int], Array]) -> list[Row]:
    """Growth of small errors in the tracker's loop [1/s], by its delay."""
    count = len(next(iter(measured.values())))
    return [
        Row(LOOP, f"{delay} ms late", name, count,
            **cells({key: np.percentile(measured[key, delay], q) for key in KINDS}))
        for delay in DELAYS
        for name, q in QUANTILES.items()
    ]  # fmt: skip


def time_rows(measured: Times) -> list[Row]:
    """Medians over trajectories: of a knot on one thread, of a horizon on several."""
    rigid = measured.knot_us["rigid_xi"]
    ratios = {key: each / rigid for key, each in measured.knot_us.items()}
    whole = {key: round(each) for key, each in measured.knot_us.items()}  # to be read with ease
    return [
        Row(TIME, "knot", "us", measured.count, **whole),
        Row(TIME, "knot", RATIO, measured.count, **cells(ratios)),
        Row(TIME, "horizon", "ms", measured.count, **cells(measured.horizon_ms)),
    ]
