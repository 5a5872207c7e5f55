"""Closed-form saltation matrices of rigid bodies, against definition and simulation (3.6).

Each closed form is compared, at random states of each transition, with the definition (3.2) by
found derivatives, and with finite differences of the simulated flow through the event.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from hybrid.saltations import saltation
from saltus.studies.engine import Criterion, StudyOptions, StudyResult
from saltus.studies.kong.saltation_matrices.cases import Case, cases, samples
from saltus.studies.kong.saltation_matrices.closed_forms import closed_form
from saltus.studies.kong.saltation_matrices.finite_differences import (
    finite_difference_saltation,
    relative_error,
)
from saltus.studies.style import COLOURS, figure

TRIALS = 100  # states per transition and body
REQUIRED = 1e-5  # relative, of every saltation matrix
_SMALLEST = 1e-17  # that the figure shows, in place of zero
SHOWN = ("transition", "max_error_definition", "max_error_finite_difference", "states")
NOTES = (
    "Errors are the largest difference of two matrices over the largest entry of the compared one,"
    " and the largest of these over all states of all bodies.",
)


def run(options: StudyOptions) -> StudyResult:
    """Rows ``transition, max_error_definition, max_error_finite_difference, states, bodies``."""
    trials = TRIALS if options.trials is None else options.trials
    rng = np.random.default_rng(options.seed)
    every, rows = cases(), []
    for done, case in enumerate(every):
        options.progress(done, len(every), case.transition)
        rows.append(_row(case, trials, rng))
    options.progress(len(every), len(every), "figure")
    failed = [
        f"{row['transition']}: a neighbour of a state did not go through the event"
        for row in rows
        if row["max_error_finite_difference"] is None
    ]
    criteria = [
        Criterion(f"{row['transition']}: {key}", row[key], "<=", REQUIRED)
        for row in rows for key in ("max_error_definition", "max_error_finite_difference")
    ]  # fmt: skip
    return StudyResult(
        rows, {"saltation-rigid-body": _figure(rows)}, (*NOTES, *failed), SHOWN, criteria=criteria
    )


def _row(case: Case, trials: int, rng: np.random.Generator) -> dict[str, Any]:
    errors = []
    for sample in samples(case, trials, rng):
        for t, x, u in sample.states:
            form = closed_form(sample.body, sample.transition, x, u)
            event = (sample.system, sample.transition, t, x, u)
            defined = saltation(*event).matrix
            measured = finite_difference_saltation(*event)
            errors.append((relative_error(form, defined), relative_error(form, measured)))
    return {
        "transition": case.transition,
        "max_error_definition": _largest([error[0] for error in errors]),
        "max_error_finite_difference": _largest([error[1] for error in errors]),
        "states": len(errors),
        "bodies": [place.name for place in case.places],
    }


def _largest(errors: Sequence[float]) -> float | None:
    """Largest error, None where there is none or one is not a number."""
    value = float(np.max(errors)) if errors else np.nan
    return value if np.isfinite(value) else None


def _figure(rows: Sequence[dict[str, Any]]) -> Figure:
    made, axes = figure(height=4.2)
    at = np.arange(len(rows))
    for key, label, colour, shift in (
        ("max_error_definition", "against the definition (3.2)", COLOURS["xi"], -0.2),
        ("max_error_finite_difference", "against differences of the flow", COLOURS["initial"], 0.2),
    ):
        values = [max(row[key] or _SMALLEST, _SMALLEST) for row in rows]
        axes.barh(at + shift, values, 0.38, left=0.0, color=colour, label=label)
    axes.axvline(REQUIRED, color=COLOURS["dxr"], linestyle="--", linewidth=1.0, label="required")
    axes.set(xscale="log", xlim=(_SMALLEST, 1e-3), xlabel="largest relative error of the matrix")
    axes.set_yticks(at, [row["transition"].replace("_", " ") for row in rows])
    axes.invert_yaxis()
    made.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    return made
