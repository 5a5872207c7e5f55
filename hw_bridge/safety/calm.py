"""Whether nothing in a sample is worth a closer look: all watches' bounds at once, compiled."""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hw_bridge.safety.options import HardwareSafetyOptions
from hw_bridge.take_in import DQ, MODE, SQUARE, TEMPERATURE, TORQUE, Q
from hw_bridge.wire.layout import SERVO
from robots.a1.constants import JOINT_LOWER, JOINT_UPPER

Array = NDArray[np.float64]

UNIT_TOLERANCE = 0.02  # of a quaternion's squared length
Bounds = tuple[float, float, float, float, float]


def bounds_of(options: HardwareSafetyOptions) -> Bounds:
    """The bounds of `is_calm`."""
    o = options
    return o.tilt_max, o.excursion_max, o.velocity_stop, o.power_stop, o.temperature_warn


@njit(cache=True)
def is_calm(numbers: Array, serving: bool, bounds: Bounds) -> bool:
    """Whether no watch but encoders' and drives' finds anything; what is not finite is not calm.

    Args:
        numbers: (75) of a sample, see `take_in`.
        serving: the motors are to follow positions: only then do ranges and modes count.
        bounds: of `bounds_of`.
    """
    tilt_max, excursion_max, fastest, most_power, warm = bounds
    if not abs(numbers[SQUARE] - 1.0) <= UNIT_TOLERANCE:
        return False
    cosine = 1.0 - 2.0 * (numbers[0] ** 2 + numbers[1] ** 2)
    if not math.acos(min(1.0, max(-1.0, cosine))) <= tilt_max:
        return False
    q, dq, torque, power = numbers[Q], numbers[DQ], numbers[TORQUE], 0.0
    mode, temperature = numbers[MODE], numbers[TEMPERATURE]
    for i in range(12):
        power += abs(torque[i] * dq[i])
        if not abs(dq[i]) <= fastest or temperature[i] >= warm:
            return False
        outside = max(JOINT_LOWER[i] - q[i], q[i] - JOINT_UPPER[i])
        if serving and (not outside <= excursion_max or mode[i] != SERVO):
            return False
    return power <= most_power
