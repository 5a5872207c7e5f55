"""What a plan may hold at most: numbers beyond are of a planner that has gone wrong."""

from typing import Annotated, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from controller.plan_function import unpack
from robots.a1.constants import JOINT_LOWER, JOINT_UPPER, TORQUE_LIMIT
from runtime.options import Options, positive

Array = NDArray[np.float64]

STATES, INPUTS, GAINS = 1, 2, 3


class PlanBoundsOptions(Options, frozen=True):
    """What a plan may hold at most.

    The largest that was seen in plans of walks, pushes of 1 to 3 m/s, stairs, jumps, flips and a
    stand on two legs stands in brackets.

    Attributes:
        joint_margin: how far a joint may lie outside its range (0.31).
        height_max: distance of the trunk from the ground that is followed (0.69).
        speed_max: of the trunk (2.8).
        turn_max: angular speed of the trunk (12).
        joint_speed_max: of a joint (49).
        torque_max: of an input (33.5).
        gain_max: of a gain (11 000, of a position after a push of 2.5 m/s).
    """

    joint_margin: Annotated[float, positive("rad", 10.0)] = 1.0
    height_max: Annotated[float, positive("m", 100.0)] = 2.0
    speed_max: Annotated[float, positive("m/s", 1000.0)] = 10.0
    turn_max: Annotated[float, positive("rad/s", 1000.0)] = 40.0
    joint_speed_max: Annotated[float, positive("rad/s", 1000.0)] = 150.0
    torque_max: Annotated[float, positive("N m", 1000.0)] = 3.0 * TORQUE_LIMIT
    gain_max: Annotated[float, positive("N m/(m, rad, m/s, rad/s)", 1e9)] = 1e5


class PlanBounds(NamedTuple):
    """The bounds for compiled code, named as in PlanBoundsOptions."""

    joint_margin: float
    height_max: float
    speed_max: float
    turn_max: float
    joint_speed_max: float
    torque_max: float
    gain_max: float


def bounds_of(options: PlanBoundsOptions) -> PlanBounds:
    """The bounds of `excess`."""
    return PlanBounds(*(float(getattr(options, name)) for name in PlanBounds._fields))


@njit(cache=True)
def excess(slot: Array, level: float, bounds: PlanBounds) -> int:
    """Return which numbers of a plan are out of bounds, STATES, INPUTS or GAINS; 0 where none.

    Args:
        slot: see `plan_function.unpack`; finite.
        level: of the ground in the world [m].
        bounds: of `bounds_of`.
    """
    plan = unpack(slot)
    for k in range(plan.qs.shape[0]):
        q, v = plan.qs[k], plan.vs[k]
        bounded = abs(q[2] - level) <= bounds.height_max
        for i in range(3):
            bounded &= abs(v[i]) <= bounds.speed_max and abs(v[3 + i]) <= bounds.turn_max
        for i in range(12):
            outside = max(JOINT_LOWER[i] - q[7 + i], q[7 + i] - JOINT_UPPER[i])
            bounded &= outside <= bounds.joint_margin and abs(v[6 + i]) <= bounds.joint_speed_max
        if not bounded:
            return STATES
    for torque in plan.inputs.flat:
        if not abs(torque) <= bounds.torque_max:
            return INPUTS
    for gain in plan.gains.flat:
        if not abs(gain) <= bounds.gain_max:
            return GAINS
    return 0
