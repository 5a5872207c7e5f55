"""Runs one trial and makes its row, and many trials on cores or on a cluster, through joblib."""

import importlib
import logging
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from joblib import Parallel, delayed, parallel_config
from joblib.parallel import get_active_backend

from saltus.common.errors import BadRequest, interrupted, postponed_interrupt, refusing
from saltus.common.processes import cores
from saltus.launch.launcher import launch
from saltus.launch.lock_step import LockStep
from saltus.launch.trace import Trace, TraceRecorder
from saltus.metrics.run import DRIVING_MEASURES, MOTION_MEASURES
from saltus.sweep.trials import Row, Trial

Item = TypeVar("Item")
Result = TypeVar("Result")

LOCAL = ("loky", "multiprocessing", "threading", "sequential")
# Backends of other packages: what to install, and the function that makes joblib know them.
GUESTS = {
    "dask": ("dask distributed", "distributed", ""),
    "ray": ("ray", "ray.util.joblib", "register_ray"),
    "spark": ("joblibspark", "joblibspark", "register_spark"),
}
SCHEDULER_S = 10.0  # patience with a scheduler's address


def default_jobs(backend: str) -> int:
    """Trials at a time: all cores of this machine, or what a cluster has (-1)."""
    return cores() if backend in LOCAL else -1


@contextmanager
def backend_ready(backend: str, scheduler: str | None, jobs: int) -> Iterator[None]:
    """Have joblib's loops run on ``backend`` meanwhile.

    Args:
        backend: a name that joblib knows, or one of a package that registers itself with it.
        scheduler: address of Dask's scheduler; None starts one here.
        jobs: processes that a Dask started here has.

    Raises:
        BadRequest: the backend is unknown, its package is missing, or nobody answers.
    """
    if scheduler is not None and backend != "dask":
        raise BadRequest(f"--scheduler is for --cluster dask, not {backend}")
    _register(backend)
    options: dict[str, Any] = {"inner_max_num_threads": 1} if backend == "loky" else {}
    with ExitStack() as stack:
        if backend == "dask":
            with _deaf_to_interrupt():
                _start_dask(stack, scheduler, jobs)
        try:
            stack.enter_context(parallel_config(backend, n_jobs=jobs, **options))
        except (ValueError, ImportError) as error:
            known = ", ".join((*LOCAL, *GUESTS))
            raise BadRequest(f"--cluster {backend!r}: accepted: {known}, or another that joblib "
                             f"knows ({error})") from error  # fmt: skip
        yield


def run_all(work: Callable[[Item], Result], items: list[Item]) -> Iterator[Result]:
    """Results of ``work`` as they come, not in the order of ``items``; inside `backend_ready`."""
    backend, jobs = cast(tuple[Any, int], get_active_backend())
    if len(items) == 1:
        yield work(items[0])  # here, without a worker
        return
    if getattr(backend, "supports_return_generator", False):
        run = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=cast(Any, 1))
        with _deaf_to_interrupt():
            results = cast(Iterator[Result], run(delayed(work)(item) for item in items))
        yield from results
        return
    size = max(1, backend.effective_n_jobs(jobs))  # such a backend hands out whole lists
    for first in range(0, len(items), size):
        batch = items[first : first + size]
        run = Parallel(n_jobs=jobs, batch_size=cast(Any, 1))
        yield from cast(list[Result], run(delayed(work)(item) for item in batch))


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


def _register(backend: str) -> None:
    if backend not in GUESTS:
        return
    packages, module, function = GUESTS[backend]
    try:
        guest = importlib.import_module(module)
    except ImportError as error:
        raise BadRequest(
            f"--cluster {backend}: not installed here; pip install {packages}"
        ) from error
    if function:
        getattr(guest, function)()


def _start_dask(stack: ExitStack, scheduler: str | None, jobs: int) -> None:
    distributed: Any = importlib.import_module("distributed")
    where: Any = scheduler
    if where is None:
        workers = jobs if jobs > 0 else cores()
        where = stack.enter_context(
            distributed.LocalCluster(workers, threads_per_worker=1, dashboard_address=None)
        )
    with refusing(f"--scheduler {scheduler}: nobody answers there", OSError, ValueError):
        stack.enter_context(distributed.Client(where, timeout=SCHEDULER_S))


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
