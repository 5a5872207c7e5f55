"""One reading: the state predicted to it, feet that change their mode, and its corrections."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from estimator.health.monitor import Health
from estimator.record import RobotRecord
from estimator.salted.contact_modes import lift_off, set_down
from estimator.salted.memory import AGE, VARIANCE, Memory
from estimator.salted.options import SaltedOptions
from estimator.salted.prediction import coast, predict, reset
from estimator.salted.timing import timed_reset
from estimator.salted.update import (
    before_prediction,
    correct_all,
    correct_between,
    modes_after_prediction,
)
from robots.approach import MINIMUM_APPROACH_SPEED
from robots.legs import Legs
from robots.rotations import Array
from robots.stance_dynamics import StanceModel
from robots.stance_step import stance_step
from robots.stance_touchdown import land

TICK = 1e-3  # [s] that a coasting filter leaves for the reading it coasts to


@njit(cache=True)
def advance(
    m: Memory, robot: RobotRecord, model: StanceModel, row: Array, health: Health, dt: float,
    parameters: SaltedOptions,
) -> bool:  # fmt: skip
    """Go on for `dt` [s] to a reading's row (50) and take it in; False when the filter diverged."""
    if dt > 1.5 * TICK:  # the accelerometer speaks of the last tick only
        if not _bridge(m, model, row, health, dt - TICK, parameters):
            return False
        dt = TICK
    jumping, share = before_prediction(m, robot.legs, row, health, dt, parameters)
    load = flow(m, model, _standing(m), dt, parameters)
    change = modes_after_prediction(m, robot.legs, row, health, dt, parameters, load)
    if change.any():
        change_modes(m, robot.legs, model, change, health.foot_force, parameters)
    return correct_all(m, robot.legs, row, health, jumping, share, load, dt, parameters)


@njit(cache=True)
def _bridge(
    m: Memory, model: StanceModel, row: Array, health: Health, gap: float, parameters: SaltedOptions
) -> bool:
    """Go on for `gap` [s] until the tick of a row (50); False when the filter diverged.

    It goes on tick by tick, in a long gap at constant velocities. A foot that the
    dynamics would pull on no longer stands: only the next reading tells its mode.
    """
    if gap > parameters.longest_bridge:
        coast(m, gap, parameters)
        return True
    standing, steps = _standing(m), max(1, round(gap / TICK))
    for step in range(1, steps + 1):
        load = flow(m, model, standing, gap / steps, parameters)
        standing[load < 0.0] = 0.0
        share = step / (steps + 1)
        if health.accelerometer and not correct_between(m, row, share, gap / steps, parameters):
            return False
    return True


@njit(cache=True)
def flow(
    m: Memory, model: StanceModel, standing: Array, dt: float, parameters: SaltedOptions
) -> Array:
    """Predict over `dt` [s] with the feet that stand (4); the load (4) on each [N]."""
    step = stance_step(model, m.q, m.v, m.torque, standing, dt)
    predict(m, step.q, step.v, step.A, dt, parameters)
    return step.load


@njit(cache=True)
def change_modes(
    m: Memory, legs: Legs, model: StanceModel, change: Array, sensed: NDArray[np.bool_],
    parameters: SaltedOptions,
) -> None:  # fmt: skip
    """Let feet lift off, then touch down one after the other, in the order of their index.

    change (4) as `update_modes` gives it, sensed (4) whether the foot's force sensor is sound.
    """
    for foot in range(4):
        if change[foot] < 0.0:
            lift_off(m, foot)
    for foot in range(4):
        if change[foot] > 0.0:
            hit = land(
                model, m.q, m.v, m.torque, _standing(m), foot, MINIMUM_APPROACH_SPEED,
                m.normal[foot],
            )  # fmt: skip
            if hit.transverse:
                delay = parameters.touchdown_delay if sensed[foot] else np.inf
                terrain = np.sqrt(parameters.terrain_noise**2 + m.ground[VARIANCE, foot])
                timed = timed_reset(hit, terrain, delay)
                reset(m, legs, hit.v_plus, timed.jacobian, timed.noise, parameters)
            set_down(m, foot)


@njit(cache=True)
def _standing(m: Memory) -> Array:
    """One for each foot (4) that stands, zero for the others."""
    return (m.contact[AGE] >= 0.0).astype(np.float64)
