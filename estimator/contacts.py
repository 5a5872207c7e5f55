"""Contacts of the feet by their forces, feet that slip, and jumps of the base velocity.

A push can change the base velocity within a millisecond, between two samples of the accelerometer.
Then all standing feet contradict the filter by the same vector, and the filter must open; a foot
that slips contradicts it alone, and must count less.

`parameters` is a filter's own record; a function reads the fields that its docstring names.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from estimator.options import LegOdometryOptions
from robots.rotations import Array
from robots.terrain import Ground, look_below

LEAST_TRUST = 0.05
"""A foot trusted less than this gives no velocity and no height."""
OFFSET_CLEARANCE = 0.02
"""A foot this far above the lowest one shows its sensor's zero [m]."""
OFFSET_TIME = 0.03
"""Time constant with which that zero is followed [s]."""
LARGEST_OFFSET = 20.0
"""A force beyond this is no zero of a sensor [N]."""
JUMP_GATE = 2.5
"""Standard deviations of the mean stance-foot velocity that tell a jump."""
JUMP_SPEED = 0.15
"""Smallest jump of the base velocity looked for [m/s]."""
JUMP_WINDOW = 0.030
"""Time after a jump in which feet may slip and the velocity may change [s]."""
JUMP_SCATTER, JUMP_PERSISTENCE, JUMP_NOISE = 0.5, 0.002, 5.0
"""Of the kinematic filters: largest scatter of the stance feet in a jump, relative to their mean;
time that its evidence must last [s]; random walk of the velocity meanwhile [m/s/sqrt(s)]."""
LARGEST_GAP = 0.1
"""Of the kinematic filters: readings further apart restart them [s]."""
LARGEST_SPEED = 20.0
"""An estimated speed above this is a divergence [m/s]."""


@njit(cache=True)
def contact_probability(force: float, touching: bool, parameters: Any) -> float:
    """Smooth step in [0, 1] of a foot's force [N], zero for a foot that is off the ground.

    Reads `force_off` and `force_full`.
    """
    if not touching:
        return 0.0
    width = parameters.force_full - parameters.force_off
    s = min(1.0, max(0.0, (force - parameters.force_off) / width))
    return s * s * (3.0 - 2.0 * s)


@njit(cache=True)
def learn_offset(forces: Array, clearance: Array, dt: float, offset: Array) -> None:
    """Follow the sensors' zero (4) [N] on feet that are clearly in the air, in place.

    Foot sensors such as the A1's are not calibrated. forces (4) [N]; clearance (4), height of each
    foot above the lowest one [m]: a foot that high and hardly loaded measures its own zero.
    """
    blend = min(1.0, dt / OFFSET_TIME)
    for foot in range(4):
        in_air = clearance[foot] > OFFSET_CLEARANCE
        if in_air and abs(forces[foot]) < LARGEST_OFFSET:
            offset[foot] += blend * (forces[foot] - offset[foot])


@njit(cache=True)
def update_trust(
    forces: Array, dt: float, age: Array, probability: Array, trust: Array, parameters: Any
) -> None:
    """Advance the four contacts by `dt` [s] with hysteresis and a ramp after touchdown.

    forces (4) [N]. Written in place: age (4), seconds since touchdown, negative in the air;
    probability (4), that the foot touches; trust (4) = probability times the ramp, that it stands
    still: the first milliseconds after touchdown slip and bounce. Reads `force_off`, `force_on`,
    `force_full` and `touchdown_ramp`.
    """
    for foot in range(4):
        touching = age[foot] >= 0.0
        if touching and forces[foot] < parameters.force_off:
            age[foot] = -1.0
        elif touching:
            age[foot] += dt
        elif forces[foot] > parameters.force_on:
            age[foot] = 0.0
        probability[foot] = contact_probability(forces[foot], age[foot] >= 0.0, parameters)
        ramp = min(1.0, max(0.0, age[foot] / parameters.touchdown_ramp))
        trust[foot] = probability[foot] * ramp


@njit(cache=True)
def update_contacts(
    contact: Array, forces: Array, positions: Array, dt: float, parameters: LegOdometryOptions
) -> None:
    """Advance `Memory.contact` (4, 4) by `dt` [s], in place.

    forces (4) as measured [N], positions (4, 3) of the feet relative to the base, world axes [m].
    """
    clearance = positions[:, 2] - positions[:, 2].min()
    learn_offset(forces, clearance, dt, contact[3])
    update_trust(forces - contact[3], dt, contact[0], contact[1], contact[2], parameters)


@njit(cache=True)
def stand(
    memory: Any, forces: Array, positions: Array, by_feet: Array, place: Array, ground: Ground,
    foot_radius: float, parameters: LegOdometryOptions,
) -> tuple[float, Array]:  # fmt: skip
    """Height [m] and velocity (3) [m/s] at the start of a base at `place` (2) [m].

    Feet that touch the ground stand already; without any, the lowest foot touches it and the
    velocity is zero. Ground of unknown height is level at z = 0 here. Writes `contact`, `jump` and
    `ground` of a memory. forces (4) [N]; positions (4, 3) of the feet relative to the base [m] and
    velocity of the base by each (4, 3) [m/s], world axes.
    """
    contact, memory.jump[:] = memory.contact, 0.0
    contact[0] = -1.0
    update_contacts(contact, forces, positions, 0.0, parameters)
    contact[0] = np.where(contact[0] >= 0.0, parameters.touchdown_ramp, contact[0])
    contact[2] = contact[1]
    feet, velocity = positions.copy(), np.zeros(3)
    feet[:, :2] += place
    look_below(ground, feet, memory.ground)
    level = np.where(np.isnan(memory.ground), 0.0, memory.ground)
    heights, total = foot_radius - positions[:, 2] + level, contact[1].sum()
    if total <= 0.5:
        return heights.max(), velocity
    for i in range(4):
        velocity += contact[1, i] / total * by_feet[i]
    return (contact[1] * heights).sum() / total, velocity


@njit(cache=True)
def feet_agree_on_jump(
    residuals: Array, trust: Array, velocity_variance: float, foot_noise: float, most: float
) -> bool:
    """Whether the stance feet agree on a jump of the base velocity.

    residuals (4, 3) = foot-measured minus predicted base velocity [m/s], trust (4),
    velocity_variance [m2/s2] of the prediction, one axis; foot_noise of a foot [m/s]. It needs two
    feet (total trust of 1.5), a mean beyond the gate, and a scatter of `most` times that mean.
    """
    total = trust.sum()
    if total < 1.5:
        return False
    mean = np.zeros(3)
    for i in range(4):
        mean += trust[i] / total * residuals[i]
    squared = (mean * mean).sum()
    scatter = 0.0
    for i in range(4):
        scatter += trust[i] / total * ((residuals[i] - mean) ** 2).sum()
    variance = velocity_variance + foot_noise**2 / total
    gate = max(JUMP_SPEED**2, 3.0 * JUMP_GATE**2 * variance)
    return squared >= gate and scatter <= most**2 * squared


@njit(cache=True)
def jump_is_open(jump: Array, agree: bool, dt: float, persistence: float) -> bool:
    """Whether the feet may slip and the velocity change, after `dt` [s] more of a jump's evidence.

    jump (2,), in place: how long the feet have agreed on one, which must be `persistence` [s], and
    what is left of the window after the last one [s].
    """
    jump[0] = jump[0] + dt if agree else 0.0
    # Half a step of slack: rounding of time stamps must not decide on which tick it closes.
    jump[1] = jump[1] - dt if jump[1] > 1.5 * dt else 0.0
    if jump[0] >= persistence - 0.5 * dt:
        jump[1] = JUMP_WINDOW
    return jump[1] > 0.0


@njit(cache=True)
def foot_weights(
    variance: float, residuals: Array, trust: Array, parameters: LegOdometryOptions
) -> Array:
    """Trust times Huber's weight, (4): a foot that moves alone is slipping.

    variance [m2/s2] of the velocity, one axis; residuals (4, 3) of it by each foot [m/s].
    """
    weights = np.zeros(4)
    for i in range(4):
        if trust[i] > LEAST_TRUST:
            own = (parameters.foot_velocity_noise / trust[i]) ** 2
            squared = (residuals[i] * residuals[i]).sum()
            distance = np.sqrt(squared / (3.0 * (variance + own)))
            light = distance > parameters.huber
            weights[i] = trust[i] * (parameters.huber / distance if light else 1.0)
    return weights
