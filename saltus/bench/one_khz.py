"""Benchmarks of the two cores that run at 1 kHz, on the messages of a short stand."""

from saltus.bench.result import BenchResult
from saltus.common.timing import TICK_US
from saltus.configuration.launch import load_launch
from saltus.doctor.core_times import record, time_estimator, time_tracker
from saltus.launch.lock_step import LockStep
from saltus.studies.engine import Criterion

RECORDED_S = 0.3


def run_tracker() -> BenchResult:
    """Time `Tracker.command` on recorded estimates and plans; the ratio is to the tick of 1 ms."""
    config = load_launch("stand", duration=RECORDED_S)
    ticks, readings = record(LockStep(config))
    return _against_tick("tracker command", time_tracker(config, ticks, readings))


def run_estimator() -> BenchResult:
    """Time the update of the launch's estimator on recorded readings; the ratio is to the tick."""
    config = load_launch("stand", duration=RECORDED_S)
    _, readings = record(LockStep(config))
    what = f"estimator update ({config.estimator})"
    return _against_tick(what, time_estimator(config, readings))


def _against_tick(what: str, quantiles: dict[str, float]) -> BenchResult:
    rows = [{"what": what, **quantiles, "bound_us": TICK_US}]
    p99 = quantiles["p99_us"]
    criteria = [Criterion(f"{what}, 99th percentile [us]", p99, "<=", TICK_US)]
    return BenchResult(rows, p99 / TICK_US, criteria=criteria)
