"""The estimator's node: for each reading one estimate of the same tick and time."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import asdict
from time import perf_counter
from typing import Any

import numpy as np

from estimator.interface import Estimator, ReportsFaults, TakesRows
from estimator.rows import DEGRADED, OK, STATUS, TIME
from robots.rotations import Array
from runtime.bus import Publisher, Subscriber
from runtime.clock import Clock
from runtime.histogram import LogHistogram
from runtime.messages import DecodeError, SensorReading, StateCovariance, StateEstimate
from runtime.rows import layout_of

LOG = logging.getLogger(__name__)

WAIT_S = 0.05
"""Longest time without a look at the stop flag [s]."""
MOST_AT_ONCE = 50
"""Readings that are made up for after a delay; older ones are passed over."""
DURATION_RESOLUTION_US = 1.0
COUNT_EVERY = 256
"""Updates of which the times are counted at once."""
COVARIANCE_TICKS = 20
"""From one published covariance to the next: by tick, so that equal runs publish the same ones."""
QUIET_S = 0.2
"""Sensors that come and go faster than this [s] are one event in the log."""


class UpdateStatistics:
    """Counts of one run of the node and the times of its updates."""

    def __init__(self) -> None:
        """All zero."""
        self.updates = 0
        self.skipped = 0
        self._last_tick: float | None = None
        self._durations = LogHistogram(DURATION_RESOLUTION_US)

    def record(self, tick: float, duration_s: float) -> None:
        """Count one update of `duration_s` [s] and the ticks lost since the last one."""
        if self._last_tick is not None and tick > self._last_tick + 1.0:
            self.skipped += int(tick - self._last_tick) - 1
        self._last_tick = tick
        self._durations.new.append(1e6 * duration_s)
        self.updates += 1
        if self.updates % COUNT_EVERY == 0:
            self._durations.settle()

    def report(self) -> dict[str, Any]:
        """Counts, and quantiles and maximum of the update time [us] (zeros without an update)."""
        return {
            "updates": self.updates,
            "skipped_ticks": self.skipped,
            "update_us": asdict(self._durations.quantiles()),
        }


class FaultLog:
    """Counts the estimates that lack a sensor; one line when that begins and when it ends.

    Attributes:
        degraded: estimates with that status since construction.
        told: all that was wrong, in words, in the order of the log.
    """

    def __init__(self, estimator: Estimator) -> None:
        """Watch an estimator; of one that does not judge its sensors only the status is counted."""
        self.degraded, self.told = 0, list[str]()
        self._judge = estimator if isinstance(estimator, ReportsFaults) else None
        self._named: set[str] = set()
        self._since = self._last = 0.0

    def note(self, time: float, status: float) -> None:
        """Take time and status of the newest estimate in, right after the update that made it."""
        if status == OK and not self._named:
            return
        self.degraded += status == DEGRADED
        if self._judge is None:
            return
        faults = self._judge.faults
        new = [name for name in faults if name not in self._named]
        if new:
            self._since = time if not self._named else self._since
            self._named.update(new)
            self.told += [name for name in new if name not in self.told]
            LOG.warning("estimator: at fault from %.3f s on: %s", time, "; ".join(new))
        if faults:
            self._last = time
        elif self._named and not abs(time - self._last) < QUIET_S:
            LOG.warning(
                "estimator: all sensors are trusted again; at fault from %.3f s to %.3f s: %s",
                self._since, self._last, "; ".join(sorted(self._named)),
            )  # fmt: skip
            self._named.clear()


def run(
    estimator: Estimator,
    readings: Subscriber[SensorReading],
    estimates: Publisher[StateEstimate],
    clock: Clock,
    stop: Callable[[], bool],
    covariances: Publisher[StateCovariance] | None = None,
) -> dict[str, Any]:
    """Estimate until `stop()`; both modes alike: the readings are the clock.

    Every reading is taken in, in order, also where several wait: an impact or a push that falls
    into a reading that was passed over is lost to the filter.

    The covariance of every 20th tick's estimate goes to `covariances` while there are subscribers.

    Returns:
        The report: mode, updates, skipped_ticks (without a reading), degraded (updates without a
        sensor), faults (what was wrong, in words), divergences, undecodable frames, update_us
        percentiles [us].
    """
    statistics, faults, update = UpdateStatistics(), FaultLog(estimator), _with_rows(estimator)
    while not stop():
        arrivals = readings.take() if readings.poll(WAIT_S) else []
        for arrival in arrivals[-MOST_AT_ONCE:]:
            reading = _row(readings, arrival) if type(arrival) is bytes else arrival
            if reading is None:
                continue
            begin = perf_counter()
            estimate = update(reading)
            duration = perf_counter() - begin
            estimates.send(estimate)
            if covariances is not None and reading[0] % COVARIANCE_TICKS == 0:
                _send_covariance(covariances, estimator, estimate)
            statistics.record(reading[0], duration)
            faults.note(estimate[TIME], estimate[STATUS])
    return {
        "mode": "paused" if clock.paused else "realtime",
        **statistics.report(),
        "degraded": faults.degraded,
        "faults": faults.told,
        "divergences": estimator.divergences,
        "undecodable": readings.undecodable,
    }


def _with_rows(estimator: Estimator) -> Callable[[Array], Array]:
    """The estimator's update of rows, by way of messages where it has none of its own."""
    if isinstance(estimator, TakesRows):
        return estimator.update_row
    messages = layout_of(SensorReading)
    return lambda reading: estimator.update(messages.message(reading)).row


def _row(readings: Subscriber[SensorReading], frame: bytes) -> Array | None:
    """The row of a reading that came as a frame; None where it does not decode."""
    try:
        return readings.message(frame).row
    except DecodeError:
        readings.undecodable += 1
        return None


def _send_covariance(
    covariances: Publisher[StateCovariance], estimator: Estimator, estimate: Array
) -> None:
    """Send a copy of the covariance while there are subscribers."""
    if covariances.subscribers():
        covariance = np.array(estimator.velocity_covariance)
        covariances.send(
            StateCovariance(tick=int(estimate[0]), time=float(estimate[TIME]), velocity=covariance)
        )
