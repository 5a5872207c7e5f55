"""What every estimator answers, so that a node, a test or a sweep can hold any of them."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from runtime.messages import SensorReading, StateEstimate


class Estimator(Protocol):
    """A filter over the robot's readings.

    `update` never raises: a reading it cannot use gives the last estimate with the status
    "diverged" ("starting" before the first usable one) and is counted.
    """

    divergences: int
    """Readings that could not be used, and re-initialisations, since construction."""

    @property
    def velocity_covariance(self) -> NDArray[np.float64]:
        """Covariance (3, 3) of the last estimate's linear velocity, base axes [m2/s2]."""
        ...

    def update(self, reading: SensorReading) -> StateEstimate:
        """Take one reading in; give the estimate at the reading's own tick and time."""
        ...

    def reset(self, position: NDArray[np.float64] | None = None) -> None:
        """Forget everything; the next reading starts anew at `position` (2 or 3) [m]."""
        ...
