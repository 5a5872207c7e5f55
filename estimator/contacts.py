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
def learn_offset(
    forces: Array, clearance: Array, dt: float, offset: Array, parameters: Any
) -> None:
    """Follow the sensors' zero (4) [N] on feet that are clearly in the air, in place.

    Foot sensors such as the A1's are not calibrated. forces (4) [N]; clearance (4), height of each
    foot above the lowest one [m]: a foot that high and hardly loaded measures its own zero.
    Reads `offset_time`, `offset_clearance` and `largest_offset`.
    """
    blend = min(1.0, dt / parameters.offset_time)
    for foot in range(4):
        in_air = clearance[foot] > parameters.offset_clearance
        if in_air and abs(forces[foot]) < parameters.largest_offset:
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
    learn_offset(forces, clearance, dt, contact[3], parameters)
    update_trust(forces - contact[3], dt, contact[0], contact[1], contact[2], parameters)


@njit(cache=True)
def touch(contact: Array, forces: Array, positions: Array, parameters: LegOdometryOptions) -> None:
    """Contacts at the start, in place: a foot that touches the ground already stands."""
    contact[0] = -1.0
    update_contacts(contact, forces, positions, 0.0, parameters)
    for i in range(4):
        if contact[0, i] >= 0.0:
            contact[0, i] = parameters.touchdown_ramp
    contact[2] = contact[1]


@njit(cache=True)
def heights_at_start(
    below: Array, ground: Ground, positions: Array, place: Array, foot_radius: float
) -> Array:
    """The base's height (4) [m] with each of the feet on the ground; writes that `below` them (4).

    positions (4, 3) of the feet relative to the base, world axes [m]; place (2) of the base [m].
    """
    feet = positions.copy()
    feet[:, :2] += place
    look_below(ground, feet, below)
    return foot_radius - positions[:, 2] + np.where(np.isnan(below), 0.0, below)


@njit(cache=True)
def feet_agree_on_jump(
    residuals: Array, trust: Array, velocity_variance: float, parameters: Any
) -> bool:
    """Whether the stance feet agree on a jump of the base velocity.

    residuals (4, 3) = foot-measured minus predicted base velocity [m/s], trust (4),
    velocity_variance [m2/s2] of the prediction, one axis. It needs two feet (total trust of 1.5),
    a mean beyond the gate and a scatter small beside that mean. Reads `jump_gate`, `jump_speed`,
    `jump_scatter` and `foot_velocity_noise`.
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
    variance = velocity_variance + parameters.foot_velocity_noise**2 / total
    gate = max(parameters.jump_speed**2, 3.0 * parameters.jump_gate**2 * variance)
    return squared >= gate and scatter <= parameters.jump_scatter**2 * squared


@njit(cache=True)
def jump_is_open(jump: Array, agree: bool, dt: float, parameters: Any) -> bool:
    """Whether the feet may slip and the velocity change, after `dt` [s] more of a jump's evidence.

    jump (2,), in place: how long the feet have agreed on one, and what is left of the window after
    the last one [s]. Reads `jump_persistence` and `jump_window`.
    """
    jump[0] = jump[0] + dt if agree else 0.0
    # Half a step of slack: rounding of time stamps must not decide on which tick it closes.
    jump[1] = jump[1] - dt if jump[1] > 1.5 * dt else 0.0
    if jump[0] >= parameters.jump_persistence - 0.5 * dt:
        jump[1] = parameters.jump_window
    return jump[1] > 0.0


@njit(cache=True)
def huber_weight(residual: Array, variance: float, parameters: Any) -> float:
    """Huber's weight in (0, 1] of one foot's residual (3) [m/s] with `variance` on each axis."""
    distance = np.sqrt((residual * residual).sum() / (3.0 * variance))
    return 1.0 if distance <= parameters.huber else parameters.huber / distance


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
            weights[i] = trust[i] * huber_weight(residuals[i], variance + own, parameters)
    return weights
