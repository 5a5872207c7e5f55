"""The pushes of the study of latency, run on all cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from saltus.common.errors import BadRequest
from saltus.common.files import data_folder
from saltus.sweep.running import (
    Broken,
    Finished,
    attempt,
    backend_ready,
    default_jobs,
    run_all,
    run_paused,
)
from saltus.sweep.sweep import prepare, threads_each
from saltus.sweep.trials import Row, Trial, make_trials
from sim_bridge.suites import read_suite
from studies.study import StudyOptions

SUITE = "table-6.1"
STRIDE = 5  # between pushes of a group: four in turn have every foot and both strides of the walk

RunTrial = Callable[[Trial], Finished]


class Condition(NamedTuple):
    """What takes time besides a solve: its name, and the keys of a launch file that say so."""

    name: str
    settings: tuple[str, ...]


IDEAL = Condition("no other delays", ())
DELAYED = Condition("with delays", (
    "timing.estimate=0.002", "simulation.input_delay=0.01", "tracker.command_delay=0.01",
))  # fmt: skip


class Point(NamedTuple):
    """One planner under one condition, with solves of one duration [ms]."""

    condition: Condition
    planner: str
    solve_ms: int


class Outcome(NamedTuple):
    """Result of one push: its row of the sweep, or why there is none."""

    point: Point
    trial: int
    row: Row | None
    reason: str = ""


def pushes(point: Point, options: StudyOptions) -> list[Trial]:
    """The pushes of a point, as many as were asked for.

    Raises:
        BadRequest: the suite has not so many.
    """
    seconds = f"timing.solve={point.solve_ms / 1e3:g}"
    settings = (*point.condition.settings, seconds, f"simulation.seed={options.seed}")
    groups = read_suite(data_folder("config") / f"{SUITE}.yaml")
    trials = make_trials(groups, point.planner, "paused", SUITE, settings)
    return choose(trials, len(trials) if options.trials is None else options.trials)


def choose(trials: Sequence[Trial], count: int) -> list[Trial]:
    """So many of a suite's trials, from its groups in turn, in the order of their numbers.

    Raises:
        BadRequest: there are not so many.
    """
    if count > len(trials):
        raise BadRequest(
            f"--trials {count}: {SUITE} has {len(trials)} pushes; give {len(trials)} or fewer"
        )
    names = dict.fromkeys(trial.group for trial in trials)
    groups = [[trial for trial in trials if trial.group == name] for name in names]
    in_turn = [group[STRIDE * k % len(group)] for k in range(len(groups[0])) for group in groups]
    return sorted(in_turn[:count], key=lambda trial: trial.labels["trial"])


def run_points(
    points: Sequence[Point], options: StudyOptions, run: RunTrial = run_paused,
    backend: str = "loky",
) -> list[Outcome]:  # fmt: skip
    """Run the pushes of all points on all cores.

    Args:
        points: in the order of the outcomes.
        options: of the study.
        run: runs one trial.
        backend: of joblib, see `saltus.sweep.running.backend_ready`.

    Raises:
        BadRequest: the suite has not so many pushes, or a trial cannot be put together.
    """
    jobs = [(point, trial) for point in points for trial in pushes(point, options)]
    cores = default_jobs(backend)
    options.progress(0, len(jobs), "compiling")
    with backend_ready(backend, None, cores):
        prepare(trial for _, trial in jobs)
        threads = threads_each(cores, len(jobs), backend)
        jobs = [(point, trial.with_threads(threads)) for point, trial in jobs]
        return _run_jobs(jobs, run, options)


def _run_jobs(
    jobs: Sequence[tuple[Point, Trial]], run: RunTrial, options: StudyOptions
) -> list[Outcome]:
    """The outcome of each job; where the workers are lost, the results received before count."""
    outcomes: dict[int, Finished | Broken] = {}
    upright, reason = 0, ""
    try:
        numbered = list(enumerate(trial for _, trial in jobs))
        for index, outcome in run_all(partial(_attempt, run), numbered):
            outcomes[index] = outcome
            upright += isinstance(outcome, Finished) and not outcome.row["fell"]
            options.progress(len(outcomes), len(jobs), f"{upright} successful")
    except Exception as error:
        reason = f"the workers were lost: {type(error).__name__}: {' '.join(str(error).split())}"
    return [_outcome(*job, outcomes.get(index), reason) for index, job in enumerate(jobs)]


def _attempt(run: RunTrial, job: tuple[int, Trial]) -> tuple[int, Finished | Broken]:
    """Run one trial in a worker; its trace stays there."""
    index, trial = job
    outcome = attempt(run, trial)
    return index, outcome._replace(trace=None) if isinstance(outcome, Finished) else outcome


def _outcome(point: Point, trial: Trial, outcome: Finished | Broken | None, reason: str) -> Outcome:
    number = trial.labels["trial"]
    if isinstance(outcome, Finished):
        return Outcome(point, number, outcome.row)
    return Outcome(point, number, None, reason if outcome is None else outcome.why)
