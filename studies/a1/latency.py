"""Success of three planners after pushes against the duration of a solve.

The pushes are those of table 6.1, in lock step with the latency model (`timing` of a launch file).
Every solve takes the same time. A plan from an estimate arrives when the solve has ended, and the
next solve begins then, at most one per knot. There are no other delays, late ticks or lost
messages. HiLQR uses the search of lock step (hilqr.paused), which is larger than that of real time.

low, high: 95 % interval of the success rate (Wilson); rates with overlapping intervals may differ
by chance. lateral: mean peak lateral deviation of the successful trials. measured: median time of a
solve on this computer, beside other processes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from saltus.common.errors import BadRequest
from saltus.common.files import data_folder
from saltus.configuration.planners import entry_of, in_order
from saltus.sweep.running import (
    Broken,
    Finished,
    attempt,
    run_all,
    run_paused,
    workers,
)
from saltus.sweep.summary import wilson_interval
from saltus.sweep.sweep import prepare, threads_each
from saltus.sweep.trials import Trial, make_trials
from sim_bridge.suites import read_suite
from studies.figures import Band, Panel, Styled, draw, over
from studies.study import Row, StudyOptions, StudyResult, study

SUITE = "table-6.1"
STRIDE = 5  # between pushes of a group: four in turn have every foot and both strides of the walk

RunTrial = Callable[[Trial], Finished]
STUDIED = ("hilqr", "convex_mpc", "instant_qp")
MARKS = {"hilqr": ("o", 4.0), "convex_mpc": ("s", 7.0), "instant_qp": ("^", 10.0)}
# The first lies on top: where points fall together all are to be seen.
SOLVES_MS = (0, 10, 25, 50, 75, 100)


class Point(NamedTuple):
    """One planner, with solves of one duration [ms]."""

    planner: str
    solve_ms: int


@study("the A1 in simulation", "trials", "seed")
def run(options: StudyOptions, run_trial: RunTrial = run_paused) -> StudyResult:
    """Rows: success of each planner at each duration of a solve.

    Args:
        options: ``trials`` is the number of pushes at each point, at most those of the suite.
        run_trial: runs one push.

    Raises:
        BadRequest: more pushes are asked for than there are, or a trial cannot be put together.
    """
    points = [Point(planner, ms) for planner in STUDIED for ms in SOLVES_MS]
    jobs = [(point, trial) for point in points for trial in pushes(point, options)]
    options.progress(0, len(jobs), "compiling")
    with workers():
        prepare(trial for _, trial in jobs)
        threads = threads_each(len(jobs))
        outcomes = run_jobs([trial.with_threads(threads) for _, trial in jobs], run_trial, options)
    rows = [
        row_of(point, [one for (at, _), one in zip(jobs, outcomes, strict=True) if at == point])
        for point in points
    ]
    columns = (
        "planner, solve_ms=solve [ms], success, trials=of, success_low=low,"
        " success_high=high, mean_max_lateral_deviation_m=lateral [m],"
        " solve_ms_wall_p50=measured [ms]"
    )
    return StudyResult(rows, {"latency": latency_figure(rows)}, columns)


def pushes(point: Point, options: StudyOptions) -> list[Trial]:
    """The pushes of a point, as many as were asked for.

    Raises:
        BadRequest: the suite has not so many.
    """
    seconds = f"timing.solve={point.solve_ms / 1e3:g}"
    settings = (seconds, f"simulation.seed={options.seed}")
    groups = read_suite(data_folder("config") / f"{SUITE}.yaml")
    trials = make_trials(groups, point.planner, "paused", SUITE, settings)
    return sorted(choose(trials, options.count(len(trials))), key=lambda each: each.labels["trial"])


def choose(trials: Sequence[Trial], count: int) -> list[Trial]:
    """So many of a suite's trials, from its groups in turn.

    Raises:
        BadRequest: there are not so many.
    """
    if count > len(trials):
        raise BadRequest(f"--trials {count}: the suite has {len(trials)} pushes; give no more")
    names = dict.fromkeys(trial.group for trial in trials)
    groups = [[trial for trial in trials if trial.group == name] for name in names]
    in_turn = [group[STRIDE * k % len(group)] for k in range(len(groups[0])) for group in groups]
    return in_turn[:count]


def run_jobs(
    trials: Sequence[Trial], run: RunTrial, options: StudyOptions
) -> list[Finished | Broken]:
    """The outcome of each trial; where the workers are lost, the results received before count."""
    outcomes: dict[int, Finished | Broken] = {}
    upright, lost = 0, ""
    try:
        for index, outcome in run_all(partial(_attempt, run), list(enumerate(trials))):
            outcomes[index] = outcome
            upright += isinstance(outcome, Finished) and not outcome.row["fell"]
            options.progress(len(outcomes), len(trials), f"{upright} successful")
    except Exception as error:
        lost = f"the workers were lost: {type(error).__name__}: {' '.join(str(error).split())}"
    return [outcomes.get(i, Broken(trial.key, lost)) for i, trial in enumerate(trials)]


def _attempt(run: RunTrial, job: tuple[int, Trial]) -> tuple[int, Finished | Broken]:
    """Run one trial in a worker; its trace stays there."""
    index, trial = job
    outcome = attempt(run, trial)
    return index, outcome._replace(trace=None) if isinstance(outcome, Finished) else outcome


def row_of(point: Point, members: Sequence[Finished | Broken]) -> Row:
    """Rates and means over the pushes that came to their end; those that broke are counted."""
    rows = [each.row for each in members if isinstance(each, Finished)]
    aside = [row["max_lateral_deviation_m"] for row in rows if not row["fell"]]
    low, high = wilson_interval(len(aside), len(rows)) if rows else (0.0, 1.0)
    return point._asdict() | {
        "trials": len(rows),
        "success": len(aside),
        "success_low": low,
        "success_high": high,
        "mean_max_lateral_deviation_m": np.mean(aside) if aside else None,
        "solve_ms_wall_p50": np.median([r["solve_ms_p50"] for r in rows]) if rows else None,
        "broken": len(members) - len(rows),
        "reason": next((each.why for each in members if isinstance(each, Broken)), ""),
    }


def latency_figure(rows: Sequence[Row]) -> Figure:
    """Success and deviation against the duration of a solve."""
    rates, deviations = {}, {}
    for planner in reversed(in_order({row["planner"] for row in rows})):
        own = [row for row in rows if row["planner"] == planner]
        entry, (marker, size) = entry_of(planner), MARKS[planner]
        look = {"color": entry.colour, "marker": marker, "markersize": size}
        times = [row["solve_ms"] for row in own]
        rate = [row["success"] / (row["trials"] or np.nan) for row in own]
        low, high = ([row[f"success_{end}"] for row in own] for end in ("low", "high"))
        # Of these five the quartiles are the interval.
        interval = Band(times, 100.0 * np.array([low, low, rate, high, high]))
        rates[entry.label] = Styled(interval, look)
        aside = np.array([row["mean_max_lateral_deviation_m"] for row in own], np.float64)
        deviations[entry.label] = over(times, aside, **look)
    return draw(
        Panel(rates, "duration of a solve [ms]", "success rate [%]",
              settings={"ylim": (-4.0, 104.0), "title": "no other delays"}),
        Panel(deviations, "duration of a solve [ms]", "mean peak lateral\ndeviation [m]",
              settings={"ylim": (0.0, None)}),
        width=4.5,
    )  # fmt: skip
