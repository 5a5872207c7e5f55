"""Success of three planners after pushes against the duration of a solve.

The pushes are those of table 6.1, in lock step with the latency model (`timing` of a launch file).
A plan from an estimate arrives when the solve has ended, and the next solve begins then.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from saltus.configuration.planners import entry_of
from saltus.sweep.running import run_paused
from saltus.sweep.summary import wilson_interval
from studies.a1.latency.figure import latency_figure
from studies.a1.latency.trials import (
    DELAYED,
    IDEAL,
    LatencyRow,
    Outcome,
    Point,
    RunTrial,
    run_points,
)
from studies.study import StudyOptions, StudyResult, study

OURS = "hilqr"
STUDIED = (OURS, "convex_mpc", "instant_qp")
MODEL = (
    "Model: every solve takes the same time, and a plan arrives when its solve has ended. The next "
    "solve begins then, at most one per knot. With delays (--full), estimates are 2 ms old and "
    "commands act 10 ms late, which the tracker knows. There are no late ticks and no lost "
    "messages. HiLQR uses the search of lock step (hilqr.paused), which is larger than that of "
    "real time (hilqr.realtime)."
)
READING = (
    "low, high: 95 % interval of the success rate (Wilson); rates with overlapping intervals may "
    "differ by chance. lateral: mean peak lateral deviation of the successful trials. measured: "
    "median time of a solve on this computer, beside other processes."
)
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


def notes(rows: Sequence[LatencyRow], outcomes: Sequence[Outcome]) -> list[str]:
    """All lines."""
    return [verdict(rows), slowest(rows), *_broken(outcomes), MODEL, READING]


def verdict(rows: Sequence[LatencyRow]) -> str:
    """At which points HiLQR's success is above both others', and where it is not."""
    above, exceptions = 0, dict[str, list[LatencyRow]]()
    points = _points(rows)
    for at in points:
        relations = {other: _relation(at[OURS], at[other]) for other in STUDIED if other != OURS}
        above += all(relation == "above" for relation in relations.values())
        for other, relation in relations.items():
            if relation != "above":
                exceptions.setdefault(f"{relation} {entry_of(other).label}", []).append(at[OURS])
    if not exceptions:
        return "The success rate of HiLQR is above both others at every point."
    words = "; ".join(
        f"{relation} at {_places(where, rows)}" for relation, where in exceptions.items()
    )
    return f"Success rate of HiLQR: above both others at {above} of {len(points)} points; {words}."


def slowest(rows: Sequence[LatencyRow]) -> str:
    """The longest solve with which HiLQR succeeds after every push."""
    names = dict.fromkeys(row.condition for row in rows)
    limits = {name: _limit([row for row in rows if row.condition == name]) for name in names}
    words = [f"{'none' if limit is None else f'{limit:g} ms'}{_under(name, rows)}"
            for name, limit in limits.items()]  # fmt: skip
    return f"Longest solve with which HiLQR succeeds after every push: {', '.join(words)}."


def _limit(rows: Sequence[LatencyRow]) -> float | None:
    """Duration of that solve [ms]; None where HiLQR falls at the shortest one."""
    limit = None
    for row in sorted((r for r in rows if r.planner == OURS), key=lambda r: r.solve_ms):
        if row.broken or row.success < row.trials:
            return limit
        limit = row.solve_ms
    return limit


def _points(rows: Sequence[LatencyRow]) -> list[dict[str, LatencyRow]]:
    """The planners' rows of every condition and duration of a solve."""
    points: dict[tuple[str, float], dict[str, LatencyRow]] = {}
    for row in rows:
        points.setdefault((row.condition, row.solve_ms), {})[row.planner] = row
    return list(points.values())


def _relation(one: LatencyRow, other: LatencyRow) -> str:
    """Of two rates of success."""
    if not one.trials or not other.trials:
        return "not comparable with"
    difference = one.success * other.trials - other.success * one.trials
    return "above" if difference > 0 else "below" if difference < 0 else "equal to"


def _places(where: Sequence[LatencyRow], rows: Sequence[LatencyRow]) -> str:
    """Durations, each condition's together."""
    names = dict.fromkeys(row.condition for row in where)
    return " and ".join(
        ", ".join(f"{row.solve_ms:g}" for row in where if row.condition == name)
        + f" ms{_under(name, rows)}"
        for name in names
    )


def _under(name: str, rows: Sequence[LatencyRow]) -> str:
    """The condition in words, where there are several."""
    return f" {name}" if len({row.condition for row in rows}) > 1 else ""


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
    return StudyResult(rows, figures, notes(rows, outcomes), SHOWN, digits=3)


def points(full: bool) -> list[Point]:
    """What is tried, a planner's points together."""
    conditions, solves = ((IDEAL, DELAYED), FULL_SOLVES_MS) if full else ((IDEAL,), SOLVES_MS)
    return [Point(c, planner, ms) for c in conditions for planner in STUDIED for ms in solves]


def rows_of(outcomes: Sequence[Outcome]) -> list[LatencyRow]:
    """One row for each point, in the order in which points come."""
    cells: dict[Point, list[Outcome]] = {}
    for outcome in outcomes:
        cells.setdefault(outcome.point, []).append(outcome)
    return [_row(point, members) for point, members in cells.items()]


def _row(point: Point, members: Sequence[Outcome]) -> LatencyRow:
    """Rates and means over the pushes that came to their end; those that broke are counted."""
    rows = [outcome.row for outcome in members if outcome.row is not None]
    aside = [row["max_lateral_deviation_m"] for row in rows if not row["fell"]]
    low, high = wilson_interval(len(aside), len(rows)) if rows else (0.0, 1.0)
    return LatencyRow(
        condition=point.condition.name,
        planner=point.planner,
        solve_ms=point.solve_ms,
        trials=len(rows),
        success=len(aside),
        success_low=low,
        success_high=high,
        mean_max_lateral_deviation_m=float(np.mean(aside)) if aside else None,
        solve_ms_wall_p50=float(np.median([r["solve_ms_p50"] for r in rows])) if rows else None,
        broken=len(members) - len(rows),
    )
