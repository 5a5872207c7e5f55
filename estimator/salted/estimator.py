"""A robot's state by a salted Kalman filter (thesis, chapter 4) on its full contact dynamics.

State: base pose and velocity, joints and their velocities, and constant errors of the IMU. Between
events the contact dynamics of the standing feet under the measured torques carry it (4.8); a foot
that touches down is reset by its impact, the covariance by that impact's saltation matrix (4.14).
Which feet stand is estimated apart, see `contacts`. What is measured: attitude, angular
velocity and acceleration, joints, and the feet that stand.

The state is on the manifold R^3 x SO(3) x R^12; errors are the tangent vectors of `robots.state`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from estimator.health.monitor import judge
from estimator.kernel_filter import KernelFilter
from estimator.options import SaltedOptions, on_uneven_ground
from estimator.record import RobotRecord, record_of, robot_record
from estimator.rows import (
    ATTITUDE_SENSOR,
    CONTACT,
    DEGRADED,
    DIVERGED,
    GYRO_SENSOR,
    OK,
    POSITION_SENSOR,
    ROW,
    SENSORS,
    STATUS,
    TIME,
    TORQUE_SENSOR,
    VELOCITY_SENSOR,
    Q,
    V,
)
from estimator.salted.advance import (
    TICK,
    advance,
    before_prediction,
    change_modes,
    correct_all,
    flow,
    modes_after_prediction,
    start,
)
from estimator.salted.contacts import is_level, look_below, stand_on
from estimator.salted.memory import PROBABILITY, STATES, VELOCITY, Memory, forget_state, new_memory
from estimator.salted.prediction import coast
from robots.legs import Legs
from robots.mujoco_model import load_mujoco
from robots.record import Record
from robots.robot import Robot
from robots.rotations import Array
from robots.stance_dynamics import StanceModel, stance_model_of
from robots.terrain import Ground, make_ground

LONGEST_STEP = 0.0025
"""After a longer time without a reading the estimate is "degraded": one lost reading, and half a
tick [s]."""
LARGEST_GAP = 0.2
"""Readings further apart, or this long without IMU and encoders, restart the filter [s]."""


class SaltedEstimator(KernelFilter):
    """The salted Kalman filter, see `KernelFilter`.

    The first reading with sound IMU and encoders places the base at the origin (see `reset`), on
    its lowest foot. A sensor that is at fault is left out. The status is "degraded" also for the
    first reading after a time without any, and "diverged" with neither attitude nor encoders for
    `LARGEST_GAP`. A second reading of the same time changes nothing.
    """

    def __init__(
        self, options: SaltedOptions, robot: Robot, ground: Ground | None = None,
        heading: float = 0.0,
    ) -> None:  # fmt: skip
        """Load the model and compile (or load) the tick.

        Args:
            options: noises and thresholds.
            robot: that is estimated.
            ground: what is known of it, a level floor z = 0 where None; see `unknown_ground`.
            heading: of the ground's x axis in the IMU's world [rad].
        """
        ground = ground or make_ground()
        used = options if is_level(ground) else on_uneven_ground(options)
        fresh, model = new_memory(robot_record(robot)), stance_model_of(load_mujoco(robot))
        super().__init__(tick, fresh, used, robot, model, ground, heading=heading)

    @property
    def covariance(self) -> Array:
        """Covariance (45, 45) of the errors, in the order of `memory`, SI units."""
        return self._memory.P[:STATES, :STATES].copy()

    @property
    def velocity_covariance(self) -> Array:
        """Covariance (3, 3) of the linear velocity, base axes [m2/s2]."""
        return self._memory.P[VELOCITY : VELOCITY + 3, VELOCITY : VELOCITY + 3].copy()


@njit(cache=True)
def tick(
    memory: Record,
    reading: Array,
    estimate: Array,
    options: Record,
    robot: Record,
    model: StanceModel,
    ground: Ground,
) -> None:
    """Take a reading's row in and write the estimate's; memory, options and robot (1)."""
    m, row, time = memory[0], reading[SENSORS:], reading[TIME]
    judge(m.past, robot[0], row, time)
    estimate[STATUS] = _take(m, robot[0], model, row, time, ground, options[0])
    estimate[:Q] = reading[:SENSORS]
    estimate[Q:V], estimate[V:CONTACT], estimate[CONTACT:STATUS] = m.q, m.v, m.contact[PROBABILITY]


@njit(cache=True, inline="always")
def _take(
    m: Memory, robot: RobotRecord, model: StanceModel, row: Array, time: float,
    ground: Ground, parameters: SaltedOptions,
) -> float:  # fmt: skip
    """Go on to a reading, or begin with it; the status."""
    if not np.isfinite(time):
        m.divergences += 1.0
        return m.without if np.isnan(m.time) else DIVERGED
    if np.isnan(m.time):
        return _begin(m, robot.legs, row, time, ground, parameters)
    dt, sound = time - m.time, m.past.sound
    if sound[ATTITUDE_SENSOR] or sound[POSITION_SENSOR:VELOCITY_SENSOR].any():
        m.seen = time
    good = 0.0 <= dt <= LARGEST_GAP and time - m.seen <= LARGEST_GAP
    if good and dt > 0.0:
        look_below(m, robot.legs, ground)
        good = advance(m, robot, model, row, dt, parameters)
    if not good:
        _lose(m, robot)
        _begin(m, robot.legs, row, time, ground, parameters)
        return DIVERGED
    m.time = time
    return DEGRADED if m.past.faulty or dt > LONGEST_STEP else OK


@njit(cache=True)
def _lose(m: Memory, robot: RobotRecord) -> None:
    """Give the state up; what comes next begins where it was last sound."""
    m.divergences += 1.0
    if np.isfinite(m.q).all():
        m.place[:] = m.q[:2]
    else:
        forget_state(m, robot)
        m.q[:2] = m.place
    m.time, m.without = np.nan, DIVERGED


@njit(cache=True)
def _begin(
    m: Memory, legs: Legs, row: Array, time: float, ground: Ground,
    parameters: SaltedOptions,
) -> float:  # fmt: skip
    """Start from a reading's sensors, if IMU and encoders are sound; the status."""
    joints = m.past.sound[POSITION_SENSOR:TORQUE_SENSOR].all()
    if not (m.past.sound[ATTITUDE_SENSOR] and m.past.sound[GYRO_SENSOR] and joints):
        m.divergences += 1.0
        return m.without
    start(m, legs, row, m.place, parameters)
    stand_on(m, legs, ground)
    m.time = m.seen = time
    return DEGRADED if m.past.faulty else OK


def compile_dynamics(robot: Robot) -> None:
    """Compile the steps and the touchdowns of the robot, nearly half of all.

    With `compile_corrections`, two processes share the work: each piece is kept as soon as it is
    compiled, and a process that compiles `tick` afterwards loads it.
    """
    record, model = robot_record(robot), stance_model_of(load_mujoco(robot))
    memory, legs, options = new_memory(record)[0], record[0].legs, record_of(SaltedOptions())[0]
    flow(memory, model, np.zeros(4), TICK, options)
    change_modes(memory, legs, model, np.zeros(4), options)


def compile_corrections(robot: Robot) -> None:
    """Compile the judgement of the sensors, the corrections, and the way through a gap."""
    record, row, load = robot_record(robot), np.zeros(ROW), np.zeros(4)
    memory, legs, options = new_memory(record)[0], record[0].legs, record_of(SaltedOptions())[0]
    judge(memory.past, record[0], row, 0.0)
    jumping, share = before_prediction(memory, legs, row, TICK, options)
    modes_after_prediction(memory, legs, row, TICK, options, load)
    correct_all(memory, legs, row, jumping, share, load, TICK, options)
    coast(memory, TICK, options)
