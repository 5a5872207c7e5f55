"""Times of the two cores that run at 1 kHz, on the messages of a run in lock step."""

from collections.abc import Sequence

from runtime.messages import SensorReading
from saltus.common.timing import time_calls
from saltus.configuration.launch import LaunchConfig
from saltus.launch import assembly
from saltus.launch.lock_step import LockStep, Tick


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
