"""Which computer is needed: success of pushes against the duration of a solve, three planners.

The pushes are those of table 6.1, in lock step with the latency model (`timing` of a launch file).
A plan from an estimate arrives when the solve has ended, and the next solve begins then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from saltus.configuration.planners import PLANNERS
from saltus.studies.a1.latency.figure import latency_figure
from saltus.studies.a1.latency.notes import notes
from saltus.studies.a1.latency.trials import DELAYED, IDEAL, Outcome, Point, RunTrial, run_points
from saltus.studies.engine import StudyOptions, StudyResult
from saltus.sweep.running import run_paused
from saltus.sweep.summary import wilson_interval

SOLVES_MS = (0, 10, 25, 50, 75, 100)
FULL_SOLVES_MS = tuple(range(0, 101, 10))
SHOWN = {
    "condition": "condition",
    "planner": "planner",
    "solve_ms": "solve [ms]",
    "success": "upright",
    "trials": "of",
    "success_low": "low",
    "success_high": "high",
    "mean_max_lateral_deviation_m": "aside [m]",
    "solve_ms_wall_p50": "here [ms]",
}  # keys in the table for a person, and their headings


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
    return StudyResult(rows, figures, notes(rows, outcomes), SHOWN, digits=3)


def points(full: bool) -> list[Point]:
    """What is tried, a planner's points together."""
    conditions, solves = ((IDEAL, DELAYED), FULL_SOLVES_MS) if full else ((IDEAL,), SOLVES_MS)
    return [Point(c, planner, ms) for c in conditions for planner in PLANNERS for ms in solves]


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
