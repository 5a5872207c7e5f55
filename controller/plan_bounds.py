"""What a plan may hold at most: numbers beyond are of a planner that has gone wrong."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from controller.plan_bounds_options import PlanBoundsOptions
from controller.plan_function import unpack
from robots.a1.constants import JOINT_LOWER, JOINT_UPPER

Array = NDArray[np.float64]

STATES, INPUTS, GAINS = 1, 2, 3


def bounds_of(options: PlanBoundsOptions) -> tuple[float, ...]:
    """The bounds of `excess`."""
    return tuple(float(getattr(options, name)) for name in options.__struct_fields__)


@njit(cache=True)
def _exceeds(values: Array, most: float) -> bool:
    """Whether the size of one of many values is more than `most`."""
    found = False
    for i in range(len(values)):
        found |= abs(values[i]) > most
    return found


@njit(cache=True)
def excess(slot: Array, level: float, bounds: tuple[float, ...]) -> int:
    """Return which numbers of a plan are out of bounds, STATES, INPUTS or GAINS; 0 where none.

    Args:
        slot: see `plan_function.unpack`; finite.
        level: of the ground in the world [m].
        bounds: of `bounds_of`.
    """
    joint_margin, height_max, speed_max, turn_max, joint_speed_max, torque_max, gain_max = bounds
    plan = unpack(slot)
    for k in range(plan.qs.shape[0]):
        q, v = plan.qs[k], plan.vs[k]
        bounded = abs(q[2] - level) <= height_max
        for i in range(3):
            bounded &= abs(v[i]) <= speed_max and abs(v[3 + i]) <= turn_max
        for i in range(12):
            outside = max(JOINT_LOWER[i] - q[7 + i], q[7 + i] - JOINT_UPPER[i])
            bounded &= outside <= joint_margin and abs(v[6 + i]) <= joint_speed_max
        if not bounded:
            return STATES
    if _exceeds(plan.inputs.reshape(-1), torque_max):
        return INPUTS
    return GAINS if _exceeds(plan.gains.reshape(-1), gain_max) else 0
