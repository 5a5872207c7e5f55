"""The estimator's thin loop: each reading in, one estimate of the same tick and time out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from time import perf_counter
from typing import Any

import numpy as np

from estimator.health.report import FaultLog
from estimator.interface import Estimator
from runtime.bus import Publisher, Subscriber
from runtime.clock import Clock
from runtime.histogram import LogHistogram
from runtime.messages import SensorReading, StateCovariance, StateEstimate

WAIT_S = 0.05
"""Longest time without a look at the stop flag [s]."""
MOST_AT_ONCE = 50
"""Readings that are made up for after a delay; older ones are passed over."""
SUBSCRIBER_TIMEOUT_S = 60.0
DURATION_RESOLUTION_US = 1.0
COVARIANCE_TICKS = 20
"""From one published covariance to the next: by tick, so that equal runs publish the same ones."""


class UpdateStatistics:
    """Counts of one run of the node and the times of its updates."""

    def __init__(self) -> None:
        """All zero."""
        self.updates = 0
        self.skipped = 0
        self._last_tick: int | None = None
        self._durations = LogHistogram(DURATION_RESOLUTION_US)

    def record(self, tick: int, duration_s: float) -> None:
        """Count one update of `duration_s` [s] and the ticks lost since the last one."""
        if self._last_tick is not None:
            self.skipped += max(0, tick - self._last_tick - 1)
        self._last_tick = tick
        self._durations.add(1e6 * duration_s)
        self.updates += 1

    def report(self) -> dict[str, Any]:
        """Counts, and quantiles and maximum of the update time [us] (zeros without an update)."""
        return {
            "updates": self.updates,
            "skipped_ticks": self.skipped,
            "update_us": asdict(self._durations.quantiles()),
        }


def run(
    estimator: Estimator,
    readings: Subscriber[SensorReading],
    estimates: Publisher[StateEstimate],
    clock: Clock,
    stop: Callable[[], bool],
    subscribers: int = 0,
    covariances: Publisher[StateCovariance] | None = None,
) -> dict[str, Any]:
    """Estimate until `stop()`; both modes alike: the readings are the clock.

    Every reading is taken in, in order, also where several wait: an impact or a push that falls
    into a reading that was passed over is lost to the filter.

    Waits first until `subscribers` consumers are connected, so that a paused run loses no tick.
    The covariance of every 20th tick's estimate goes to `covariances`.

    Returns:
        The report: mode, updates, skipped_ticks (without a reading), degraded (updates without a
        sensor), faults (what was wrong, in words), divergences, undecodable frames, update_us
        percentiles [us].
    """
    statistics, faults = UpdateStatistics(), FaultLog(estimator)
    estimates.wait_for_subscribers(subscribers, SUBSCRIBER_TIMEOUT_S, stop)
    while not stop():
        for reading in readings.wait_all(WAIT_S)[-MOST_AT_ONCE:]:
            begin = perf_counter()
            estimate = estimator.update(reading)
            duration = perf_counter() - begin
            estimates.send(estimate)
            if covariances is not None and reading.tick % COVARIANCE_TICKS == 0:
                covariances.send(_covariance(estimator, estimate))
            statistics.record(reading.tick, duration)
            faults.note(estimate)
    return {
        "mode": "paused" if clock.paused else "realtime",
        **statistics.report(),
        "degraded": faults.degraded,
        "faults": faults.told,
        "divergences": estimator.divergences,
        "undecodable": readings.undecodable,
    }


def _covariance(estimator: Estimator, estimate: StateEstimate) -> StateCovariance:
    """The message of the estimator's own covariance, copied: the next update may write over it."""
    return StateCovariance(
        tick=estimate.tick, time=estimate.time, velocity=np.array(estimator.velocity_covariance)
    )
