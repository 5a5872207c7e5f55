"""How an estimator says which sensors it leaves out, and what its loop makes of that."""

from __future__ import annotations

import logging
from typing import Protocol, runtime_checkable

from estimator.interface import Estimator
from runtime.messages import StateEstimate

LOG = logging.getLogger(__name__)

QUIET_S = 0.2
"""Sensors that come and go faster than this [s] are one event in the log."""


@runtime_checkable
class ReportsFaults(Protocol):
    """The part of an estimator that judges its sensors; an estimator need not have it."""

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with the last reading, in words (`SensorMonitor.faults`)."""
        ...


class FaultLog:
    """Counts the estimates that lack a sensor; one line when that begins and when it ends.

    Attributes:
        degraded: estimates with that status since construction.
        told: all that was wrong, in words, in the order of the log.
    """

    def __init__(self, estimator: Estimator) -> None:
        """Of an estimator; of one that does not judge its sensors only the status is counted."""
        self.degraded, self.told = 0, list[str]()
        self._judge = estimator if isinstance(estimator, ReportsFaults) else None
        self._named: set[str] = set()
        self._since = self._last = 0.0

    def note(self, estimate: StateEstimate) -> None:
        """Take the newest estimate in, right after the update that made it."""
        self.degraded += estimate.status == "degraded"
        if self._judge is None or (estimate.status == "ok" and not self._named):
            return
        faults = self._judge.faults
        new = [name for name in faults if name not in self._named]
        if new:
            self._since = estimate.time if not self._named else self._since
            self._named.update(new)
            self.told += [name for name in new if name not in self.told]
            LOG.warning("estimator: at fault from %.3f s on: %s", estimate.time, "; ".join(new))
        if faults:
            self._last = estimate.time
        elif self._named and not abs(estimate.time - self._last) < QUIET_S:
            LOG.warning(
                "estimator: all sensors are trusted again; at fault from %.3f s to %.3f s: %s",
                self._since, self._last, "; ".join(sorted(self._named)),
            )  # fmt: skip
            self._named.clear()
