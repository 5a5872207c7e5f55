"""Runs one trial and makes its row, and many trials at the same time."""

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from joblib import Parallel, delayed, parallel_config

from saltus.common.errors import interrupted, postponed_interrupt
from saltus.common.processes import cores
from saltus.launch.launcher import launch
from saltus.launch.lock_step import LockStep
from saltus.launch.trace import Trace, TraceRecorder
from saltus.metrics.run import DRIVING_MEASURES, MOTION_MEASURES
from saltus.sweep.trials import Row, Trial

Item = TypeVar("Item")
Result = TypeVar("Result")


def workers(jobs: int | None = None) -> AbstractContextManager[Any]:
    """Have `run_all` run `jobs` at the same time meanwhile; None: as many as there are cores."""
    return parallel_config("loky", n_jobs=jobs or cores(), inner_max_num_threads=1)


def run_all(work: Callable[[Item], Result], items: list[Item]) -> Iterator[Result]:
    """Results of ``work`` as they come, not in the order of ``items``; inside `workers`."""
    if len(items) == 1:
        yield work(items[0])  # here, without a worker
        return
    run = Parallel(return_as="generator_unordered", batch_size=cast(Any, 1))
    with _deaf_to_interrupt():
        results = cast(Iterator[Result], run(delayed(work)(item) for item in items))
    yield from results


@contextmanager
def _deaf_to_interrupt() -> Iterator[None]:
    """Have processes that start meanwhile ignore Ctrl-C, as this one does for that moment.

    A terminal sends it to the workers too, which would each print a traceback. This process alone
    acts on it, and ends them. A mask of signals would not lose it, but the workers' resource
    tracker takes such a mask away.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # the handler can be set in the main thread alone
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Finished(NamedTuple):
    """A trial that came to its end: its row, and its trace where one was taken."""

    row: Row
    trace: Trace | None


class Broken(NamedTuple):
    """A trial that raised: its planner and number, and what was raised."""

    key: tuple[str, int]
    why: str


def attempt(run: Any, trial: Trial) -> Finished | Broken:
    """Run a trial with ``run``, one of the functions below; raises KeyboardInterrupt alone."""
    try:
        return run(trial)
    except Exception as error:
        if interrupted(error):
            raise KeyboardInterrupt from error
        return Broken(trial.key, f"{type(error).__name__}: {' '.join(str(error).split())}")


def run_paused(trial: Trial) -> Finished:
    """Run one trial in lock step, in this process."""
    with postponed_interrupt() as check_interrupt:
        run, recorder = LockStep(trial.config), TraceRecorder(trial.config)
        metrics = run.run(lambda tick: (check_interrupt(), recorder.add(tick)))
    trace = recorder.trace(run.solve_ms)
    p50, p99 = np.percentile(run.solve_ms, (50.0, 99.0)).tolist()
    row = _row(
        trial, metrics.summary(), metrics.fell, {"p50": p50, "p99": p99},
        run.planner.statistics() | {"statuses": trace.statuses}, trace.commands,
    )  # fmt: skip
    return Finished(row | {"processor_ms_p50": float(np.median(run.processor_ms))}, trace)


def run_realtime(trial: Trial) -> Finished:
    """Run one trial in processes, by the clock; a run that breaks off counts as a fall.

    Raises:
        KeyboardInterrupt: the user stopped it, which says nothing about the robot.
    """
    outcome = launch(trial.config)
    if outcome.interrupted:
        raise KeyboardInterrupt
    summary, reports = outcome.summary, outcome.reports
    fell = summary["fell"] or not outcome.completed
    # The tracker's own counts hold the time before the robot came to life and after.
    commands = reports.get("simulation", {}).get("in_force", {})
    solve_ms, planner = summary["planner"]["solve_ms"], reports.get("planner", {})
    return Finished(_row(trial, summary, fell, solve_ms, planner, commands), None)


def _row(
    trial: Trial, summary: Row, fell: bool, solve_ms: Mapping[str, float | None], planner: Row,
    commands: Mapping[str, int],
) -> Row:  # fmt: skip
    """The row of a trial.

    Args:
        trial: that was run.
        summary: of the run's metrics.
        fell: whether the trial counts as a fall.
        solve_ms: quantiles of the solves' durations [ms].
        planner: its report.
        commands: number of motor commands by status.
    """
    plans, driven = planner.get("statuses", {}), trial.config.is_driven
    measures = (*(DRIVING_MEASURES if driven else ()), *MOTION_MEASURES)
    row = trial.labels | {
        "fell": fell, "max_lateral_deviation_m": summary["max_lateral_deviation_m"],
        "solve_ms_p50": solve_ms["p50"], "group": trial.group,
        "seed": trial.config.simulation.seed, "solve_ms_p99": solve_ms["p99"],
        "plans_failed": plans.get("failed", 0), "plans_late": plans.get("time_limit", 0),
        "not_tracking_ticks": sum(commands.values()) - commands.get("ok", 0),
    }  # fmt: skip
    row |= {key: summary[key] for key in measures if key in summary}
    if limits := planner.get("limits"):  # the largest violation in a plan, a share of its limit
        row |= {"worst_violation": limits["worst"], "worst_limit": limits["of"]}
    if trial.pass_two_legs is not None:
        passed = summary.get("two_legs_s", 0.0) >= trial.pass_two_legs
        row["passed"] = not fell and passed
    elif trial.pass_distance is not None:
        way = row["displacement_m"] = summary["displacement_m" if driven else "distance_m"]
        row["passed"] = not fell and way >= trial.pass_distance
    return row
