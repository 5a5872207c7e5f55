"""Perturbation suites: one run per trial, a row for each, and success counted by magnitude."""

import os
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import msgspec
import numpy as np
from joblib import Parallel, delayed

from saltus import warmup
from saltus.assembly import event_times
from saltus.configuration import LaunchConfig, make_config
from saltus.errors import BadRequest
from saltus.folders import find_file
from saltus.launcher import launch
from saltus.lockstep import LockStep
from saltus.progress import RunProgress
from sim_bridge.perturbations import MotorBlock, Perturbation
from sim_bridge.suites import Suite, SuiteError, read_suite

Row = dict[str, Any]


class SuiteResult(NamedTuple):
    """Rows, one per trial, and the summary, one per controller, kind and magnitude."""

    rows: list[Row]
    summary: list[Row]


class Trial(NamedTuple):
    """One run of a suite: what its row begins with, and its configuration."""

    labels: Row
    config: LaunchConfig


def run_suite(name_or_path: str, controller: str, mode: str, jobs: int) -> SuiteResult:
    """Run every trial of a suite.

    Args:
        name_or_path: a name in ``config/`` or a YAML file.
        controller: which planner.
        mode: ``paused``, one process per job, or ``realtime``, the whole stack for each trial.
        jobs: trials at the same time.

    Raises:
        BadRequest: the suite or one of its trials cannot be used.
    """
    path = find_file("config", name_or_path)
    try:
        suite = read_suite(path)
    except SuiteError as error:
        raise BadRequest(str(error)) from error
    trials = [_share_cores(t, jobs) for t in make_trials(suite, controller, mode, str(path))]
    warmup.ensure_compiled(trials[0].config)
    run = run_paused if mode == "paused" else run_realtime
    rows: list[Row] = []
    with RunProgress(len(trials), "trials") as progress:
        # Processes from one pool: solvers and simulations hold the interpreter's lock.
        results = Parallel(n_jobs=jobs, return_as="generator")(delayed(run)(t) for t in trials)
        for row in cast(Iterator[Row], results):
            rows.append(row)
            progress.show(len(rows), f"{sum(not row['fell'] for row in rows)} on their feet")
    return SuiteResult(rows, summarise(rows))


def _share_cores(trial: Trial, jobs: int) -> Trial:
    """The trial with no more planner threads than its share of the cores; results are the same."""
    hilqr = trial.config.hilqr
    threads = min(hilqr.threads, max(1, len(os.sched_getaffinity(0)) // jobs))
    hilqr = msgspec.structs.replace(hilqr, threads=threads)
    return trial._replace(config=msgspec.structs.replace(trial.config, hilqr=hilqr))


def make_trials(suite: Suite, controller: str, mode: str, source: str) -> list[Trial]:
    """The configuration of each trial, its gait phase resolved to seconds.

    Raises:
        BadRequest: an unknown reference, or a phase that it does not have.
    """
    mapping = {
        "mode": mode, "duration": suite.duration, "planner": controller,
        "reference": suite.reference, "command": suite.command,
        "simulation": {"input_delay": suite.input_delay},
    }  # fmt: skip
    config = make_config(mapping, source)
    trials = []
    for index, event in enumerate(suite.trials):
        at = event_times(msgspec.structs.replace(config, perturbations=(event,)))[0]
        if at >= suite.duration:
            raise BadRequest(f"{source}: trial {index} is at {at:g} s, after the end of the run")
        labels = {
            "controller": controller, "trial": index, "kind": event_kind(event), "at": at,
            "value": None if isinstance(event, MotorBlock) else list(event.value),
        }  # fmt: skip
        trials.append(Trial(labels, msgspec.structs.replace(config, perturbations=(event,))))
    return trials


def event_kind(event: Perturbation) -> str:
    """The `kind` that suites call an event by."""
    return str(type(event).__struct_config__.tag)


def run_paused(trial: Trial) -> Row:
    """Run one trial in lock step, in this process."""
    run = LockStep(trial.config)
    metrics = run.run()
    return trial.labels | {
        "fell": metrics.fell,
        "max_lateral_deviation_m": metrics.max_lateral_deviation,
        "solve_ms_p50": float(np.median(run.solve_ms)),
    }


def run_realtime(trial: Trial) -> Row:
    """Run one trial in processes, by the clock; a run that breaks off counts as a fall."""
    outcome = launch(trial.config)
    return trial.labels | {
        "fell": outcome.summary["fell"] or not outcome.completed,
        "max_lateral_deviation_m": outcome.summary["max_lateral_deviation_m"],
        "solve_ms_p50": outcome.summary["planner"]["solve_ms"]["p50"],
    }


def summarise(rows: list[Row]) -> list[Row]:
    """Success by controller, kind and magnitude of the perturbation.

    `success` counts trials without a fall; the mean deviation is over these (None without one).
    """
    groups: dict[tuple[str, str, float], list[Row]] = {}
    for row in rows:
        magnitude = round(float(np.linalg.norm(row["value"] or [])), 6)
        groups.setdefault((row["controller"], row["kind"], magnitude), []).append(row)
    summary = []
    for (controller, kind, magnitude), members in sorted(groups.items()):
        upright = [row["max_lateral_deviation_m"] for row in members if not row["fell"]]
        summary.append({
            "controller": controller, "kind": kind, "magnitude": magnitude,
            "trials": len(members), "success": len(upright),
            "mean_max_lateral_deviation_m": float(np.mean(upright)) if upright else None,
        })  # fmt: skip
    return summary
