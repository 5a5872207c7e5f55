"""What leg odometry and the invariant filter share: readings in, estimates out, sensors judged."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimator.health.layout import FORCE, ROW, TORQUE, sensor_row
from estimator.health.monitor import SensorMonitor
from estimator.memory import usable
from robots.a1.constants import GRAVITY, STAND_HEIGHT, STAND_JOINTS
from robots.terrain import Ground, make_ground
from runtime.messages import SensorReading, StateEstimate

Array = NDArray[np.float64]
Status = Literal["ok", "degraded", "diverged", "starting"]


class Kernels(NamedTuple):
    """The compiled parts of a filter: memory of one that has seen nothing, start, update."""

    new_memory: Callable[[], Any]
    restart: Callable[..., None]
    advance: Callable[..., bool]


def without_torque(row: Array) -> Array:
    """The numbers (38) of a reading's row (50) that these filters take."""
    return np.concatenate((row[:TORQUE], row[FORCE:]))


class ReadingFilter(ABC):
    """A filter behind the `Estimator` protocol that takes every usable reading as it is.

    The first usable reading places the base at `position` (x, y [m], the origin by default) with
    the measured orientation, on the height at which its standing feet touch the ground, or z = 0
    where the ground is not known.
    """

    _memory: Any
    _time: float | None

    def __init__(
        self, kernels: Kernels, parameters: Any, largest_gap: float, position: Array | None,
        ground: Ground | None,
    ) -> None:  # fmt: skip
        """Compile (or load) the update, so that the first reading is as fast as any.

        `ground` is what is known of it: a level floor, z = 0, where None; see `unknown_ground`.
        """
        self._kernels, self._parameters, self._largest_gap = kernels, parameters, largest_gap
        self._ground = make_ground() if ground is None else ground
        self._monitor = SensorMonitor()
        self.divergences = 0
        self.reset()
        row = np.zeros(ROW)
        row[3], row[9], row[10:22] = 1.0, GRAVITY, STAND_JOINTS
        row = without_torque(row)
        usable(row)
        self._advance(row, 0.0)
        self._time = 0.0
        self._advance(row, 1e-3)
        self._assemble(row)
        self.divergences = 0
        self.reset(position)

    def reset(self, position: Array | None = None) -> None:
        """Forget the state, not the counts; start anew at `position` (x, y first) [m]."""
        self._place = np.zeros(2) if position is None else np.array(position[:2], dtype=np.float64)
        self._memory = self._kernels.new_memory()
        self._monitor.reset()
        self._time = None
        self._q = np.concatenate(([*self._place, STAND_HEIGHT, 0.0, 0.0, 0.0, 1.0], STAND_JOINTS))
        self._v = np.zeros(18)

    def update(self, reading: SensorReading) -> StateEstimate:
        """Take one reading in; give the estimate at its tick and time.

        Never raises. A reading that is not finite is left out: the last estimate comes back as
        "diverged" ("starting" before the first usable reading). A filter that diverges restarts
        from kinematics where it last was, and says "diverged" once. A reading as old as the last
        one adds its measurements without prediction; after a gap beyond `largest_gap` or a step
        back in time the filter restarts. With a sensor at fault the status is "degraded"; the
        estimate is the same.
        """
        full = sensor_row(reading)
        faulty, row = self._monitor.judge(full, reading.time).any_fault, without_torque(full)
        if usable(row) and np.isfinite(reading.time):
            status = self._advance(row, reading.time)
            self._time = reading.time
            self._assemble(row)
        else:
            self.divergences += 1
            status = "starting" if self._time is None else "diverged"
        return StateEstimate(
            tick=reading.tick,
            time=reading.time,
            q=self._q.copy(),
            v=self._v.copy(),
            contact=self._memory.contact[1].copy(),
            status="degraded" if faulty and status == "ok" else status,
        )

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with the last reading, in words."""
        return self._monitor.faults

    def _advance(self, row: Array, time: float) -> Status:
        _, restart, advance = self._kernels
        if self._time is None:
            restart(self._memory, row, self._place, self._ground, self._parameters)
            return "ok"
        dt = time - self._time
        if 0.0 <= dt <= self._largest_gap:
            if advance(self._memory, row, dt, self._ground, self._parameters):
                return "ok"
        self.divergences += 1
        restart(self._memory, row, self._q[:2], self._ground, self._parameters)
        return "diverged"

    @abstractmethod
    def _assemble(self, row: Array) -> None:
        """Write q (19) and v (18) from the state and the row that it has just taken in."""
