"""Runs one trial and makes its row; only Ctrl-C is raised: a sweep goes on when a trial breaks."""

import logging
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from saltus.common.errors import interrupted
from saltus.common.interrupt import postponed_interrupt
from saltus.launch.launcher import launch
from saltus.launch.lock_step import LockStep
from saltus.metrics.motion import MOTION_MEASURES
from saltus.metrics.run import DRIVING_MEASURES
from saltus.sweep.trials import Row, Trial
from saltus.trace import Trace, TraceRecorder


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
    logging.getLogger("controller").addHandler(logging.NullHandler())  # the row counts it all
    with postponed_interrupt() as check_interrupt:
        run, recorder = LockStep(trial.config), TraceRecorder(trial.config)
        metrics = run.run(lambda tick: (check_interrupt(), recorder.add(tick)))
    trace = recorder.trace(run.solve_ms)
    summary = metrics.summary()
    row = trial.labels | {
        "fell": metrics.fell,
        "max_lateral_deviation_m": summary["max_lateral_deviation_m"],
        "solve_ms_p50": float(np.median(run.solve_ms)),
        "group": trial.group,
        "seed": trial.config.simulation.seed,
        "solve_ms_p99": float(np.percentile(run.solve_ms, 99.0)),
        "processor_ms_p50": float(np.median(run.processor_ms)),
        **_failures(trace.statuses, trace.commands),
    } | _measures(trial, summary) | _violation(run.planner.statistics())
    return Finished(_judged(row, trial, summary), trace)


def run_realtime(trial: Trial) -> Finished:
    """Run one trial in processes, by the clock; a run that breaks off counts as a fall.

    Raises:
        KeyboardInterrupt: the user stopped it, which says nothing about the robot.
    """
    outcome = launch(trial.config)
    if outcome.interrupted:
        raise KeyboardInterrupt
    summary, reports = outcome.summary, outcome.reports
    row = trial.labels | {
        "fell": summary["fell"] or not outcome.completed,
        "max_lateral_deviation_m": summary["max_lateral_deviation_m"],
        "solve_ms_p50": summary["planner"]["solve_ms"]["p50"],
        "group": trial.group,
        "seed": trial.config.simulation.seed,
        "solve_ms_p99": summary["planner"]["solve_ms"]["p99"],
        **_failures(
            reports.get("planner", {}).get("statuses", {}),
            # The tracker's own counts hold the time before the robot came to life and after.
            reports.get("simulation", {}).get("in_force", {}),
        ),
    } | _measures(trial, summary) | _violation(reports.get("planner", {}))
    return Finished(_judged(row, trial, summary), None)


def _measures(trial: Trial, summary: Mapping[str, Any]) -> Row:
    """The measures of a robot that is driven, or of a motion with flight."""
    driving = DRIVING_MEASURES if trial.config.is_driven else ()
    return {key: summary[key] for key in (*driving, *MOTION_MEASURES) if key in summary}


def _violation(report: Mapping[str, Any]) -> Row:
    """The largest violation in a plan, as a share of its limit, where the planner keeps limits."""
    limits = report.get("limits")
    return {"worst_violation": limits["worst"], "worst_limit": limits["of"]} if limits else {}


def _judged(row: Row, trial: Trial, summary: Mapping[str, Any]) -> Row:
    """The row, with whether the trial was passed where staying up is not enough."""
    if trial.pass_two_legs is not None:
        long_enough = summary.get("two_legs_s", 0.0) >= trial.pass_two_legs
        return row | {"passed": not row["fell"] and long_enough}
    if trial.pass_distance is None:
        return row
    way = summary["displacement_m" if trial.config.is_driven else "distance_m"]
    return row | {"passed": not row["fell"] and way >= trial.pass_distance, "displacement_m": way}


def _failures(plans: Mapping[str, int], commands: Mapping[str, int]) -> Row:
    """Plans that were none or came late, and ticks in which the robot followed no plan."""
    return {
        "plans_failed": plans.get("failed", 0),
        "plans_late": plans.get("time_limit", 0),
        "not_tracking_ticks": sum(commands.values()) - commands.get("ok", 0),
    }
