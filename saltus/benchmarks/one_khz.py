"""Benchmarks of the two cores that run at 1 kHz, on the messages of a short stand."""

from runtime.messages import Plan, SensorReading
from saltus import assembly
from saltus.benchmarks.result import BenchResult
from saltus.benchmarks.timing import TICK_US, time_calls
from saltus.configuration import load_launch
from saltus.lockstep import LockStep, Tick

RECORDED_S = 0.3


def run_tracker() -> BenchResult:
    """Time `Tracker.command` on recorded estimates and plans; the ratio is to the tick of 1 ms."""
    ticks, readings = record()
    plans: list[Plan | None] = [tick.plan for tick in ticks]
    tracker = assembly.make_tracker(load_launch("stand"))

    def call(k: int) -> None:
        now = readings[k].time
        tracker.command(ticks[k].estimate, plans[k], now, readings[k])

    return _against_tick("tracker command", time_calls(call, len(ticks)))


def run_estimator() -> BenchResult:
    """Time the update of the launch's estimator on recorded readings; the ratio is to the tick."""
    _, readings = record()
    config = load_launch("stand")
    estimator = assembly.make_estimator(config)
    call = time_calls(lambda k: estimator.update(readings[k]), len(readings))
    return _against_tick(f"estimator update ({config.estimator})", call)


def record() -> tuple[list[Tick], list[SensorReading]]:
    """Ticks and readings of a short stand in lock step."""
    run = LockStep(load_launch("stand", duration=RECORDED_S))
    ticks, readings = [], []
    while run.simulation.tick < run.config.ticks:
        readings.append(run.simulation.reading())
        ticks.append(run.step())
    return ticks, readings


def _against_tick(what: str, quantiles: dict[str, float]) -> BenchResult:
    rows = [{"what": what, **quantiles, "bound_us": TICK_US}]
    return BenchResult(rows, quantiles["p99_us"] / TICK_US)
