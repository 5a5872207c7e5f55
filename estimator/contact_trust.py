"""How far a foot can be trusted to stand, from its measured force.

`parameters` is a filter's own record; a function reads the fields that its docstring names.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from robots.rotations import Array


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

    The A1's foot sensors are not calibrated. forces (4) [N]; clearance (4), height of each foot
    above the lowest one [m]: a foot that high and hardly loaded measures its own zero.
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
