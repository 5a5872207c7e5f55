"""What a plan may hold at most: numbers beyond are of a planner that has gone wrong."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from controller.plan_bounds_options import PlanBoundsOptions
from controller.plan_function import unpack
from robots.robot import Robot

Array = NDArray[np.float64]

STATES, INPUTS, GAINS = 1, 2, 3


class PlanBounds(NamedTuple):
    """The bounds of `excess`, see `PlanBoundsOptions`; arrays are of the joints (12)."""

    lower: Array  # [rad]
    upper: Array  # [rad]
    joint_margin: float
    height: float
    speed: float
    turn: float
    joint_speed: float
    torque: Array
    gain: float


def bounds_of(options: PlanBoundsOptions, robot: Robot) -> PlanBounds:
    """The bounds of a robot's plans."""
    o, legs, most = options, robot.legs, options.torque_max
    return PlanBounds(
        np.array(legs.lower), np.array(legs.upper), float(o.joint_margin), float(o.height_max),
        float(o.speed_max), float(o.turn_max), float(o.joint_speed_max),
        3.0 * robot.torque_limit if most is None else np.full(12, float(most)), float(o.gain_max),
    )  # fmt: skip


@njit(cache=True)
def _exceeds(values: Array, most: Array) -> bool:
    """Whether the size of one of the values (N, 12) is more than its column's `most` (12)."""
    found = False
    for k in range(len(values)):
        for i in range(12):
            found |= abs(values[k, i]) > most[i]
    return found


@njit(cache=True)
def excess(slot: Array, level: float, bounds: PlanBounds) -> int:
    """Return which numbers of a plan are out of bounds, STATES, INPUTS or GAINS; 0 where none.

    Args:
        slot: see `plan_function.unpack`; finite.
        level: of the ground in the world [m].
        bounds: of `bounds_of`.
    """
    speed_max, turn_max, joint_speed_max = bounds.speed, bounds.turn, bounds.joint_speed
    plan = unpack(slot)
    for k in range(plan.qs.shape[0]):
        q, v = plan.qs[k], plan.vs[k]
        bounded = abs(q[2] - level) <= bounds.height
        for i in range(3):
            bounded &= abs(v[i]) <= speed_max and abs(v[3 + i]) <= turn_max
        for i in range(12):
            outside = max(bounds.lower[i] - q[7 + i], q[7 + i] - bounds.upper[i])
            bounded &= outside <= bounds.joint_margin and abs(v[6 + i]) <= joint_speed_max
        if not bounded:
            return STATES
    if _exceeds(plan.inputs, bounds.torque):
        return INPUTS
    gains = plan.gains.reshape((-1, 12))
    return GAINS if _exceeds(gains, np.full(12, bounds.gain)) else 0
