"""One reading, from its row to the estimate's: sensors judged, ground looked at, state advanced."""

from __future__ import annotations

import numpy as np
from numba import njit

from estimator.health.monitor import Health, judge
from estimator.record import (
    CONTACT,
    DEGRADED,
    DIVERGED,
    OK,
    SENSORS,
    STATUS,
    TIME,
    Q,
    Record,
    RobotRecord,
    V,
)
from estimator.salted.advance import advance
from estimator.salted.ground_below import look_below, stand_on
from estimator.salted.memory import PROBABILITY, Memory, forget_state
from estimator.salted.options import SaltedOptions
from estimator.salted.update import start
from robots.legs import Legs
from robots.rotations import Array
from robots.stance_dynamics import StanceModel
from robots.terrain import Ground


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
    health = judge(m.past, robot[0], row, time)
    estimate[STATUS] = _take(m, robot[0], model, row, time, health, ground, options[0])
    estimate[:Q] = reading[:SENSORS]
    estimate[Q:V], estimate[V:CONTACT], estimate[CONTACT:STATUS] = m.q, m.v, m.contact[PROBABILITY]


@njit(cache=True)
def _take(
    m: Memory, robot: RobotRecord, model: StanceModel, row: Array, time: float, health: Health,
    ground: Ground, parameters: SaltedOptions,
) -> float:  # fmt: skip
    """Go on to a reading, or begin with it; the status."""
    if not np.isfinite(time):
        m.divergences += 1.0
        return m.without if np.isnan(m.time) else DIVERGED
    if np.isnan(m.time):
        return _begin(m, robot.legs, row, time, health, ground, parameters)
    dt = time - m.time
    if health.orientation or health.joint_position.any():
        m.seen = time
    good = 0.0 <= dt <= parameters.largest_gap and time - m.seen <= parameters.largest_gap
    if good and dt > 0.0:
        look_below(m, robot.legs, ground)
        good = advance(m, robot, model, row, health, dt, parameters)
    if not good:
        _lose(m, robot)
        _begin(m, robot.legs, row, time, health, ground, parameters)
        return DIVERGED
    m.time = time
    return DEGRADED if health.any_fault or dt > parameters.longest_step else OK


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
    m: Memory, legs: Legs, row: Array, time: float, health: Health, ground: Ground,
    parameters: SaltedOptions,
) -> float:  # fmt: skip
    """Start from a reading's sensors, if IMU and encoders are sound; the status."""
    joints = health.joint_position.all() and health.joint_velocity.all()
    if not (health.orientation and health.gyroscope and joints):
        m.divergences += 1.0
        return m.without
    start(m, legs, row, health, m.place, parameters)
    stand_on(m, legs, ground)
    m.time = m.seen = time
    return DEGRADED if health.any_fault else OK
