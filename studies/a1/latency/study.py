"""Success of three planners after pushes against the duration of a solve.

The pushes are those of table 6.1, in lock step with the latency model (`timing` of a launch file).
Every solve takes the same time. A plan from an estimate arrives when the solve has ended, and the
next solve begins then, at most one per knot. With delays (--full), estimates are 2 ms old and
commands act 10 ms late, which the tracker knows. There are no late ticks and no lost messages.
HiLQR uses the search of lock step (hilqr.paused), which is larger than that of real time.

low, high: 95 % interval of the success rate (Wilson); rates with overlapping intervals may differ
by chance. lateral: mean peak lateral deviation of the successful trials. measured: median time of a
solve on this computer, beside other processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from saltus.configuration.planners import entry_of
from saltus.sweep.running import run_paused
from saltus.sweep.summary import wilson_interval
from studies.a1.latency.figure import latency_figure
from studies.a1.latency.trials import (
    DELAYED,
    IDEAL,
    Outcome,
    Point,
    RunTrial,
    run_points,
)
from studies.study import StudyOptions, StudyResult, study

STUDIED = ("hilqr", "convex_mpc", "instant_qp")
SOLVES_MS = (0, 10, 25, 50, 75, 100)
FULL_SOLVES_MS = tuple(range(0, 101, 10))
SHOWN = {
    "condition": "condition",
    "planner": "planner",
    "solve_ms": "solve [ms]",
    "success": "success",
    "trials": "of",
    "success_low": "low",
    "success_high": "high",
    "mean_max_lateral_deviation_m": "lateral [m]",
    "solve_ms_wall_p50": "measured [ms]",
}  # keys in the table for a person, and their headings


def _broken(outcomes: Sequence[Outcome]) -> list[str]:
    failures = [outcome for outcome in outcomes if outcome.row is None]
    if not failures:
        return []
    point, number, _, reason = failures[0]
    return [
        f"{len(failures)} of {len(outcomes)} trials raised an error and are not counted; the "
        f"first: trial {number} of {entry_of(point.planner).label} at {point.solve_ms} ms: {reason}"
    ]


@study("the A1 in simulation", "trials", "seed", "full")
def run(
    options: StudyOptions, run_trial: RunTrial = run_paused, backend: str = "loky"
) -> StudyResult:
    """Rows: success at each duration of a solve; with ``full``, also with other delays.

    Args:
        options: ``trials`` is the number of pushes at each point, at most those of the suite.
        run_trial: runs one push.
        backend: of joblib, on which pushes run.

    Raises:
        BadRequest: more pushes are asked for than there are.
    """
    outcomes = run_points(points(options.full), options, run_trial, backend)
    rows = rows_of(outcomes)
    figures = {"latency": latency_figure(rows)}
    return StudyResult(rows, figures, _broken(outcomes), SHOWN, digits=3)


def points(full: bool) -> list[Point]:
    """What is tried, a planner's points together."""
    conditions, solves = ((IDEAL, DELAYED), FULL_SOLVES_MS) if full else ((IDEAL,), SOLVES_MS)
    return [Point(c, planner, ms) for c in conditions for planner in STUDIED for ms in solves]


def rows_of(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """One row for each point, in the order in which points come."""
    cells: dict[Point, list[Outcome]] = {}
    for outcome in outcomes:
        cells.setdefault(outcome.point, []).append(outcome)
    return [_row(point, members) for point, members in cells.items()]


def _row(point: Point, members: Sequence[Outcome]) -> dict[str, Any]:
    """Rates and means over the pushes that came to their end; those that broke are counted."""
    rows = [outcome.row for outcome in members if outcome.row is not None]
    aside = [row["max_lateral_deviation_m"] for row in rows if not row["fell"]]
    low, high = wilson_interval(len(aside), len(rows)) if rows else (0.0, 1.0)
    return {
        "condition": point.condition.name,
        "planner": point.planner,
        "solve_ms": point.solve_ms,
        "trials": len(rows),
        "success": len(aside),
        "success_low": low,
        "success_high": high,
        "mean_max_lateral_deviation_m": float(np.mean(aside)) if aside else None,
        "solve_ms_wall_p50": float(np.median([r["solve_ms_p50"] for r in rows])) if rows else None,
        "broken": len(members) - len(rows),
    }
