"""Accuracy of event times, and orders of convergence through events.

Event times against closed forms, in Python and compiled; orders from runs with fixed steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from studies.figures import COLOURS, figure
from studies.numerics.event_accuracy.cases import OPTIONS, cases, event_time_error
from studies.numerics.event_accuracy.convergence import (
    SIZES,
    Errors,
    dense_output_errors,
    event_errors,
    integrator_errors,
)
from studies.study import Criterion, StudyOptions, StudyResult, study

TRIALS = 200  # random states of each case
TIME_BOUND = 1e-10  # [s], of every event's time
STEP_ORDER, DENSE_ORDER = 7.0, 6.5  # least orders measured of what is of order 8, and of order 7
LABELS = {
    "integrator": ("integrator alone", COLOURS["initial"], "o-"),
    "through_event": ("state through an event", COLOURS["xi"], "s-"),
    "through_moving_event": ("state through an event on a moving wall", COLOURS["dxr"], "^-"),
    "event_time": ("event time [s]", COLOURS["final"], "d-"),
    "dense_output": ("between steps, through an event", COLOURS["direct"], "v-"),
}


@study("closed forms", "trials", "seed")
def run(options: StudyOptions) -> StudyResult:
    """Rows ``case, kind, value, bound, met``: errors at most, orders at least the bound."""
    trials = options.count(TRIALS)
    rows = time_rows(options, trials)
    options.progress(len(rows), len(rows) + 1, "orders")
    measured = measure_orders()
    options.progress(len(rows) + 1, len(rows) + 1, "figure")
    notes = (
        f"Event time errors are the largest over {trials} random states, with a tolerance of"
        f" {OPTIONS.rtol:g} relative and {OPTIONS.atol:g} absolute.",
        "Orders are slopes of the error over fixed steps of"
        f" {SIZES[0]:g} to {SIZES[-1]:g} s. The integrator is of order 8. Dense output is of order"
        " 7: it adds an error of h to the eighth within a step, so no order is lost between steps.",
    )
    every = [*rows, *order_rows(measured)]
    criteria = [
        Criterion(f"{row.case}: {row.kind}", row.value,
                  ">=" if row.kind == "order" else "<=", row.bound)
        for row in every
    ]  # fmt: skip
    return StudyResult(
        every, {"event-accuracy": draw(measured)}, notes, criteria=criteria
    )


def time_rows(options: StudyOptions, trials: int) -> list[AccuracyRow]:
    """Largest error of event times [s] of each case, interpreted and compiled."""
    plan = [(case, code) for case in cases() for code in ("interpreted", "compiled")]
    rows = []
    for done, (case, code) in enumerate(plan):
        name = f"{case.name} {code}"
        options.progress(done, len(plan) + 1, name)
        error = event_time_error(case, trials, options.seed, code == "compiled")
        met = bool(error <= TIME_BOUND)
        value = error if np.isfinite(error) else None
        rows.append(_row(name, "event_time_error_s", value, TIME_BOUND, met))
    return rows


def measure_orders() -> dict[str, Errors]:
    """Errors over the step, by what is measured."""
    state, time = event_errors()
    return {
        "integrator": integrator_errors(),
        "through_event": state,
        "through_moving_event": event_errors(wall_moves=True)[0],
        "event_time": time,
        "dense_output": dense_output_errors(),
    }


def order_rows(measured: Mapping[str, Errors]) -> list[AccuracyRow]:
    """Orders of convergence, each with the least that it may be."""
    rows = []
    for name, errors in measured.items():
        bound = DENSE_ORDER if name == "dense_output" else STEP_ORDER
        rows.append(_row(name, "order", errors.order, bound, bool(errors.order >= bound)))
    return rows


def draw(measured: Mapping[str, Errors]) -> Figure:
    """Errors over the step, both logarithmic, beside a line of order 8."""
    drawing, axes = figure(width=5.6, height=4.2)
    for name, errors in measured.items():
        label, colour, line = LABELS[name]
        axes.loglog(errors.sizes, errors.values, line, color=colour, ms=4, lw=1.2, label=label)
    slope = 0.05 * measured["event_time"].values[0] * (SIZES / SIZES[0]) ** 8
    axes.loglog(SIZES, slope, "--", color=COLOURS["seed"], lw=1.0, label="order 8")
    axes.set(xlabel="step [s]", ylabel="largest error", xlim=(0.6 * SIZES[-1], 1.2 * SIZES[0]))
    axes.legend(frameon=False, fontsize=8)
    return drawing


@dataclass(frozen=True)
class AccuracyRow:
    """An error or an order, and its bound."""

    case: str
    kind: str
    value: float | None
    bound: float
    met: bool


def _row(case: str, kind: str, value: float | None, bound: float, met: bool) -> AccuracyRow:
    return AccuracyRow(case=case, kind=kind, value=value, bound=bound, met=met)
