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
from numpy.typing import NDArray

Array = NDArray[np.float64]


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
def huber_weight(residual: Array, variance: float, parameters: Any) -> float:
    """Huber's weight in (0, 1] of one foot's residual (3) [m/s] with `variance` on each axis."""
    distance = np.sqrt((residual * residual).sum() / (3.0 * variance))
    return 1.0 if distance <= parameters.huber else parameters.huber / distance
