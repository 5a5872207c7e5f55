"""What limits cost HiLQR MPC: the same estimates to a planner with them and to one without."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from controller.planner import Planner
from runtime.messages import StateEstimate
from saltus.bench.result import BenchResult
from saltus.common.criterion import Criterion
from saltus.common.progress import RunProgress
from saltus.configuration.launch import LaunchConfig, load_launch
from saltus.launch import assembly
from saltus.launch.first_compilation import ensure_compiled
from saltus.launch.lock_step import LockStep

BOUND = 1.2  # times the solve without limits
WITH = ("hilqr.limits.penalty=100",)
FIRST = 20  # solves that are not counted


def run() -> BenchResult:
    """Solve from the estimates of `saltus launch push` with both planners in turn.

    A row is a planner. The ratio is that of the medians of the solve times.
    """
    configs = {"without": load_launch("push", (), "paused"),
               "with": load_launch("push", WITH, "paused")}  # fmt: skip
    ensure_compiled(configs["with"])
    estimates = _estimates(configs["without"])
    planners = {name: assembly.make_planner(config) for name, config in configs.items()}
    times = _times(planners, estimates)
    rows = [
        {"limits": name, "solve_ms_p50": float(np.median(ms)), "solve_ms_mean": float(np.mean(ms)),
         "solve_ms_p99": float(np.percentile(ms, 99.0)), "solves": len(ms)}
        for name, ms in times.items()
    ]  # fmt: skip
    ratio = float(np.median(times["with"]) / np.median(times["without"]))
    what = "median solve with limits over that without"
    return BenchResult(rows, ratio, criteria=[Criterion(what, ratio, "<=", BOUND)])


def _estimates(config: LaunchConfig) -> list[StateEstimate]:
    """What the planner of a launch in lock step plans from."""
    stack, found = LockStep(config), []
    stack.run(lambda tick: found.append(tick.estimate) if tick.plan is not None else None)
    return found


def _times(planners: dict[str, Planner], estimates: list[StateEstimate]) -> dict[str, list[float]]:
    """Solve times [ms] of the planners, which solve in turn, the first one in turn too."""
    times: dict[str, list[float]] = {name: [] for name in planners}
    names = list(planners)
    with RunProgress(len(estimates), "solves") as progress:
        for number, estimate in enumerate(estimates):
            for name in names:
                begin = perf_counter()
                planners[name].solve(estimate)
                times[name].append(1e3 * (perf_counter() - begin))
            names.reverse()
            progress.show(number, "solved")
    return {name: ms[FIRST:] for name, ms in times.items()}
