"""A filter that is one compiled call a reading: a row of numbers in, a row out, and one record.

Rows have the layout of the messages `SensorReading` and `StateEstimate`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, fields, is_dataclass
from typing import Any, Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

from estimator.health.layout import ROW
from estimator.health.monitor import faults
from estimator.health.past import PAST, Past, forget
from robots.a1.constants import STAND_HEIGHT, STAND_JOINTS
from robots.planar_pose import PlanarPose
from robots.rotations import Array
from runtime.messages import SensorReading, StateEstimate
from runtime.rows import layout_of

Record = NDArray[np.void]

TIME, SENSORS = 1, 2
"""In a reading's row, behind its tick: the time [s], and the sensors' numbers, `health.layout`."""
Q, V, CONTACT, STATUS = 2, 21, 39, 43
"""In an estimate's row, behind tick and time."""
OK, DEGRADED, DIVERGED, STARTING = 0.0, 1.0, 2.0, 3.0
"""Numbers of an estimate's status."""

_READINGS, _ESTIMATES = layout_of(SensorReading), layout_of(StateEstimate)


class Memory(Protocol):
    """What every filter remembers between readings; compiled functions write it in place."""

    past: Past
    """What the monitor of the sensors remembers."""
    time: float
    """Of the last reading that was used [s]; NaN while there is no state."""
    place: Array
    """(2) where to begin [m]."""
    divergences: float
    """Readings that could not be used, and re-initialisations."""


def memory_type(**arrays: tuple[int, ...]) -> np.dtype[np.void]:
    """The type of a `Memory` with a filter's own arrays of these shapes; () is a number."""
    shapes = {"time": (), "place": (2,), "divergences": (), **arrays}
    own = [(name, np.float64, shape) for name, shape in shapes.items()]
    return np.dtype((np.record, [("past", PAST), *own]))


def new_memory(kind: np.dtype[np.void], begin: Callable[[Any], None]) -> Record:
    """One record (1,) of a filter that has seen nothing; `begin` writes its own arrays."""
    memory = np.zeros(1, kind)
    _forget(memory[0])
    begin(memory[0])
    return memory


@njit(cache=True)
def _forget(m: Memory) -> None:
    forget(m.past)
    m.time = np.nan


def record_of(options: Any) -> Record:
    """A dataclass of numbers and such dataclasses as one record (1,) for compiled functions."""
    return np.array([astuple(options)], _type_of(options))


def _type_of(value: Any) -> Any:
    if not is_dataclass(value):
        return np.float64
    return np.dtype(
        (np.record, [(field.name, _type_of(getattr(value, field.name))) for field in fields(value)])
    )


class KernelFilter:
    """A filter behind the `Estimator` protocol; `update_row` is its compiled call.

    Never raises. A reading that it cannot use gives the last estimate as "diverged", or "starting"
    before the first usable one. After a gap beyond `largest_gap`, a step back in time, or where the
    numbers diverge, the filter starts anew where it last was, and says "diverged" once. With a
    sensor at fault the status is "degraded".
    """

    def __init__(
        self, tick: Callable[..., None], new: Callable[[], Record], world: tuple[Any, ...],
        position: Array | None, heading: float,
    ) -> None:  # fmt: skip
        """Compile (or load) the tick, so that the first reading is as fast as any.

        Args:
            tick: called with memory (1,), the rows of reading and estimate, and `world`.
            new: makes the memory of a filter that has seen nothing.
            world: options, model and ground.
            position: where to begin, x, y first [m]; the origin by default.
            heading: of the ground's x axis in the IMU's world [rad].
        """
        self._tick, self._new, self._world = tick, new, world
        self._pose = PlanarPose(yaw=heading)
        self._state, self._estimate = new(), np.zeros(_ESTIMATES.width)
        self._memory = self._state[0]
        self._tick(self._state, np.zeros(SENSORS + ROW), self._estimate, *world)
        self._memory.divergences = 0.0
        self.reset(position)

    @property
    def divergences(self) -> int:
        """Readings that could not be used, and re-initialisations, since construction."""
        return int(self._memory.divergences)

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with the last reading, in words."""
        return faults(self._memory.past)

    def reset(self, position: Array | None = None) -> None:
        """Forget the state, not the counts; start anew at `position` (x, y first) [m]."""
        place = np.zeros(3)
        if position is not None:
            place[:2] = position[:2]
        if self._pose.yaw:
            place = PlanarPose(yaw=-self._pose.yaw).points_to_world(place)
        divergences = self._memory.divergences
        self._state[:] = self._new()
        self._memory.place[:], self._memory.divergences = place[:2], divergences
        stand = [*place[:2], STAND_HEIGHT, 0.0, 0.0, 0.0, 1.0, *STAND_JOINTS]
        self._estimate[Q:V], self._estimate[V:] = stand, 0.0

    def update(self, reading: SensorReading) -> StateEstimate:
        """Take one reading in; give the estimate at its tick and time."""
        row = np.empty(SENSORS + ROW)
        _READINGS.write(reading, row)
        return _ESTIMATES.message(self.update_row(row).copy())

    def update_row(self, reading: Array) -> Array:
        """The same with rows; the next call writes over the estimate's."""
        if self._pose.yaw:
            return self._update_turned(reading)
        self._tick(self._state, reading, self._estimate, *self._world)
        return self._estimate

    def _update_turned(self, reading: Array) -> Array:
        """Turn a row to the ground's axes, and the estimate back."""
        turned, q = reading.copy(), np.zeros(19)
        q[3:7] = reading[SENSORS : SENSORS + 4]
        turned[SENSORS : SENSORS + 4] = self._pose.to_local(q)[3:7]
        self._tick(self._state, turned, self._estimate, *self._world)
        estimate = self._estimate.copy()
        estimate[Q:V] = self._pose.to_world(estimate[Q:V])
        return estimate
