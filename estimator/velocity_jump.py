"""Outliers among the stance-foot velocities, and jumps of the base that all feet agree on.

A push can change the base velocity within a millisecond, between two samples of the
accelerometer. Then every stance foot contradicts the filter, and all by the same vector; a
slipping foot contradicts it alone. The first must open the filter, the second must not.
`parameters` is a filter's own record; a function reads the fields that its docstring names.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from robots.rotations import Array


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
