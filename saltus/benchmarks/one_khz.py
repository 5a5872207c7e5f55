"""Benchmarks of the two cores that run at 1 kHz, on the messages of a short stand."""

from collections.abc import Sequence

from runtime.messages import SensorReading
from saltus import assembly
from saltus.benchmarks.result import BenchResult
from saltus.benchmarks.timing import TICK_US, time_calls
from saltus.configuration import LaunchConfig, load_launch
from saltus.lockstep import LockStep, Tick

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


def record(run: LockStep) -> tuple[list[Tick], list[SensorReading]]:
    """Ticks and readings of a whole run in lock step."""
    ticks, readings = [], []
    while run.simulation.tick < run.config.ticks:
        readings.append(run.simulation.reading())
        ticks.append(run.step())
    return ticks, readings


def time_tracker(
    config: LaunchConfig, ticks: Sequence[Tick], readings: Sequence[SensorReading]
) -> dict[str, float]:
    """Quantiles of the time that a tracker of this launch takes for a command [us]."""
    tracker = assembly.make_tracker(config)

    def call(k: int) -> None:
        tracker.command(ticks[k].estimate, ticks[k].plan, readings[k].time, readings[k])

    return time_calls(call, len(ticks))


def time_estimator(config: LaunchConfig, readings: Sequence[SensorReading]) -> dict[str, float]:
    """Quantiles of the time that the estimator of this launch takes for an update [us]."""
    estimator = assembly.make_estimator(config)
    return time_calls(lambda k: estimator.update(readings[k]), len(readings))


def _against_tick(what: str, quantiles: dict[str, float]) -> BenchResult:
    rows = [{"what": what, **quantiles, "bound_us": TICK_US}]
    return BenchResult(rows, quantiles["p99_us"] / TICK_US)
