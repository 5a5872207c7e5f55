"""Judges the sensors reading by reading: range, freeze, jump, and one against another."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from estimator.health.attitude import judge_attitude
from estimator.health.forces import judge_forces, judge_gravity
from estimator.health.health import Health, fault_names, health
from estimator.health.joints import judge_joints
from estimator.health.layout import (
    ACCELERATION,
    ACCELEROMETER,
    FIRST_SINGLE,
    GYRO_SENSOR,
    POSITION,
    ROW,
    SENSORS,
    TORQUE_SENSOR,
)
from estimator.health.options import MonitorOptions, thresholds
from estimator.health.past import Past, forget_motion, new_past
from estimator.health.ranges import at_rail, check_ranges
from estimator.health.stillness import watch_stillness
from robots.a1.constants import GRAVITY, STAND_JOINTS
from robots.a1.imu_units import accelerometer_doubt, gyroscope_doubt

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


class SensorMonitor:
    """Says of each reading which of its sensors can be believed.

    A sensor is left out at once when its numbers are not finite, out of range, frozen, jumped or
    contradicted, and trusted again `sound_time` after the last of that. A jump that stays is
    believed after `readmit_time`. Readings apart by more than `largest_gap` are not compared.

    Attributes:
        verdict: on the last reading; None before the first.
    """

    def __init__(self, options: MonitorOptions | None = None) -> None:
        """Compile (or load) the checks, so that the first reading is as fast as any."""
        self.options = options or MonitorOptions()
        self._thresholds = thresholds(self.options)
        self.verdict: Health | None = None
        self._usable = np.ones(SENSORS, dtype=np.bool_)
        self.reset()
        row = np.zeros(ROW)
        row[3], row[9], row[10:22] = 1.0, GRAVITY, STAND_JOINTS
        self.judge(row, 0.0)
        self.judge(row, 1e-3)
        self.reset()

    def reset(self) -> None:
        """Forget every reading; all sensors are trusted."""
        self._past, self.verdict = new_past(), None

    def judge(self, row: Array, time: float) -> Health:
        """Judge a reading's row (50, as `layout.sensor_row` packs it) at its time [s].

        Never raises. A reading as old as the last one, or without a time, is checked for its
        range only and forgotten.
        """
        faulty = _judge(self._past, row, time, self._usable, self._thresholds)
        self.verdict = health(self._usable, faulty)
        return self.verdict

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with the last reading, in words: `fault_names`, with what to look at."""
        if self.verdict is None:
            return ()
        past, names = self._past[0], list(fault_names(self.verdict))
        mean, turns = past["doubt"].tolist()
        if mean and "accelerometer" in names:
            names[names.index("accelerometer")] = accelerometer_doubt(mean)
        if turns and "gyroscope" in names:
            says = "turns otherwise than the attitude"
            names[names.index("gyroscope")] = gyroscope_doubt(says)
        if past["repeats"] >= self.options.most_repeats:
            names.append("time of the readings, which stands still: is the robot's clock running?")
        return tuple(names)


@njit(cache=True)
def _judge(
    pasts: NDArray[np.void], row: Array, time: float, usable: Mask, options: NDArray[np.void]
) -> bool:
    """Write the mask (43) of one reading; True when a sensor or the time is at fault."""
    past, th = pasts[0], options[0]
    bad = np.zeros(SENSORS, dtype=np.bool_)
    check_ranges(row, bad, th)
    railed = at_rail(row, th)
    dt = time - past.clock
    if 0.0 < dt <= th.largest_gap:
        past.railed = past.railed + dt if railed else 0.0
        _compare(past, row, dt, railed, bad, th)
    elif not (dt == 0.0 or np.isnan(time)):
        forget_motion(past, row)
        past.railed = 0.0
    if not (dt == 0.0 or np.isnan(time)):
        past.clock, past.row[:] = time, row
    elapsed = dt if dt > 0.0 else 0.0
    past.repeats = 0.0 if dt > 0.0 else past.repeats + 1.0
    faulty = past.repeats >= th.most_repeats
    for s in range(SENSORS):
        past.since[s] = 0.0 if bad[s] else past.since[s] + elapsed
        usable[s] = past.since[s] >= th.sound_time
        faulty = faulty or not usable[s]
    if usable[ACCELEROMETER]:
        past.doubt[0] = 0.0
    if usable[GYRO_SENSOR]:
        past.doubt[1] = 0.0
    usable[ACCELEROMETER] = usable[ACCELEROMETER] and not railed
    return faulty


@njit(cache=True)
def _compare(
    past: Past, row: Array, dt: float, railed: bool, bad: Mask, th: MonitorOptions
) -> None:
    """Everything that needs the reading before, and one sensor against another."""
    watch_stillness(past, row, dt, th)
    for s in range(TORQUE_SENSOR, SENSORS):
        bad[s] = bad[s] or past.stuck[FIRST_SINGLE + s] > 0.0
    if past.stuck[ACCELERATION:POSITION].max() > 0.0 or past.railed > th.sound_time:
        bad[ACCELEROMETER] = True
    judge_attitude(past, row, dt, bad, th)
    judge_joints(past, row, dt, bad, th)
    judge_gravity(past, row, bad, th)
    if not railed:
        judge_forces(past, row, dt, bad, th)
