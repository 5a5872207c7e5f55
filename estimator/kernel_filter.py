"""Base of the filters: one compiled call for each reading, from its row to the estimate's.

Rows have the layout of the messages `SensorReading` and `StateEstimate`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from estimator.health.monitor import faults, judge
from estimator.record import Memory, RobotRecord, record_of, robot_record
from estimator.rows import (
    CONTACT,
    DEGRADED,
    DIVERGED,
    FORCE,
    OK,
    POSITION,
    ROW,
    SENSORS,
    STARTING,
    STATUS,
    TIME,
    TORQUE,
    VELOCITY,
    Q,
    V,
)
from robots.planar_pose import PlanarPose
from robots.record import Record
from robots.robot import Robot
from robots.rotations import Array
from runtime.messages import SensorReading, StateEstimate
from runtime.rows import layout_of

LARGEST_NUMBER = 1e6
"""Of a usable reading."""
_ESTIMATES = layout_of(StateEstimate)


class KernelFilter:
    """A filter behind the `Estimator` protocol; `update_row` is its compiled call.

    Never raises. A reading that it cannot use gives the last estimate as "diverged", or "starting"
    before the first usable one. After a gap beyond `largest_gap`, a step back in time, or where the
    numbers diverge, the filter starts anew where it last was, and says "diverged" once. With a
    sensor at fault the status is "degraded".
    """

    def __init__(
        self, tick: Callable[..., None], fresh: Record, options: Any, robot: Robot,
        *world: Any, heading: float,
    ) -> None:  # fmt: skip
        """Compile (or load) the tick, so that the first reading is as fast as any.

        Args:
            tick: called with memory (1,), the rows of reading and estimate, options, robot and
                `world`.
            fresh: the memory of a filter that has seen nothing.
            options: of the filter.
            robot: that is estimated.
            world: what else the tick takes, such as the ground.
            heading: of the ground's x axis in the IMU's world [rad].
        """
        self._tick, self._fresh = tick, fresh
        self.options, self._robot = options, robot
        self._world = record_of(options), robot_record(robot), *world
        self._pose = PlanarPose(yaw=heading)
        self._state, self._estimate = fresh.copy(), np.zeros(_ESTIMATES.width)
        self._memory = self._state[0]
        self._tick(self._state, np.zeros(SENSORS + ROW), self._estimate, *self._world)
        faults(self._memory.past)
        self._memory.divergences = 0.0
        self.reset()

    @property
    def divergences(self) -> int:
        """Readings that could not be used, and re-initialisations, since construction."""
        return int(self._memory.divergences)

    @property
    def faults(self) -> tuple[str, ...]:
        """Faults of the last reading, in words."""
        return faults(self._memory.past)

    def reset(self, position: Array | None = None) -> None:
        """Forget the state, not the counts; start anew at `position` (x, y first) [m].

        It is the origin where it is left out.
        """
        place = np.zeros(3)
        if position is not None:
            place[:2] = position[:2]
        if self._pose.yaw:
            place = PlanarPose(yaw=-self._pose.yaw).points_to_world(place)
        divergences = self._memory.divergences
        self._state[:] = self._fresh
        self._memory.place[:], self._memory.divergences = place[:2], divergences
        robot = self._robot
        stand = [*place[:2], robot.stand_height, 0.0, 0.0, 0.0, 1.0, *robot.stand]
        self._estimate[Q:V], self._estimate[V:] = stand, 0.0

    def update(self, reading: SensorReading) -> StateEstimate:
        """Take one reading in; give the estimate at its tick and time."""
        return _ESTIMATES.message(self.update_row(reading.row).copy())

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


@njit(cache=True)
def take_in(m: Memory, robot: RobotRecord, reading: Array, estimate: Array) -> bool:
    """Judge a reading's row and write an estimate's tick, time, status and joints, if it is usable.

    Returns whether it is. A filter takes a usable reading as it is, also one with a sensor at
    fault.
    """
    row, time = reading[SENSORS:], reading[TIME]
    judge(m.past, robot, row, time)
    estimate[:Q] = reading[:SENSORS]
    if usable(row) and np.isfinite(time):
        estimate[STATUS] = DEGRADED if m.past.faulty else OK
        estimate[Q + 7 : V] = row[POSITION:VELOCITY]
        estimate[V + 6 : CONTACT] = row[VELOCITY:TORQUE]
        return True
    m.divergences += 1.0
    estimate[STATUS] = STARTING if np.isnan(m.time) else DIVERGED
    return False


@njit(cache=True)
def attitude(row: Array) -> Array:
    """The unit quaternion x, y, z, w (4) of a reading's row (50)."""
    return row[:4] / np.sqrt((row[:4] * row[:4]).sum())


@njit(cache=True)
def usable(row: Array) -> bool:
    """Whether a row (50) is finite but for torques, of possible size, its quaternion near unity."""
    for i in range(len(row)):
        if not (TORQUE <= i < FORCE or abs(row[i]) < LARGEST_NUMBER):
            return False
    norm = np.sqrt((row[:4] * row[:4]).sum())
    return 0.9 < norm < 1.1


@njit(cache=True)
def lose(m: Memory, estimate: Array) -> None:
    """Begin anew where the last estimate was; without a state, at `Memory.place`."""
    if not np.isnan(m.time):
        m.divergences += 1.0
        m.place[:], estimate[STATUS] = estimate[Q : Q + 2], DIVERGED
