"""The interface of every estimator."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from robots.rotations import Array
from runtime.messages import SensorReading, StateEstimate


class Estimator(Protocol):
    """A filter over the robot's readings.

    `update` never raises: a reading it cannot use gives the last estimate with the status
    "diverged" ("starting" before the first usable one) and is counted.
    """

    @property
    def divergences(self) -> int:
        """Readings that could not be used, and re-initialisations, since construction."""
        ...

    @property
    def velocity_covariance(self) -> Array:
        """Covariance (3, 3) of the last estimate's linear velocity, base axes [m2/s2]."""
        ...

    def update(self, reading: SensorReading) -> StateEstimate:
        """Take one reading in; give the estimate at the reading's own tick and time."""
        ...

    def reset(self, position: Array | None = None) -> None:
        """Forget everything; the next reading starts anew at `position` (2 or 3) [m]."""
        ...


@runtime_checkable
class TakesRows(Protocol):
    """The part of an estimator that makes no messages; an estimator need not have it."""

    def update_row(self, reading: Array) -> Array:
        """`update` with the messages' rows, `runtime.rows`; the next call may write over it."""
        ...


@runtime_checkable
class ReportsFaults(Protocol):
    """The part of an estimator that judges its sensors; an estimator need not have it."""

    @property
    def faults(self) -> tuple[str, ...]:
        """Faults of the last reading, in words (`estimator.health.monitor.faults`)."""
        ...
