"""The worst that has been asked of the robot, and that it has done."""

import msgspec
import numpy as np
from numba import njit
from numpy.typing import NDArray

from robots.robot import Robot

Array = NDArray[np.float64]


class WorstValues(msgspec.Struct, frozen=True):
    """The largest values since the first command that asked for motion.

    Attributes:
        torque_demand: that a command's law gave a motor at the joints of a state that was sent in
            the last ticks, that which it fits best [N m]: so at what its sender could know; the
            motors may have given less.
        torque_demand_true: the same at the true joints of the tick in which it came [N m].
        excursion: of a joint beyond its range [rad], 0 if none was.
        speed: of a joint [rad/s].
        power: sum over the motors of |torque x speed| [W].
        temperature: of a motor [deg C].
        tilt: of the trunk from upright [rad].
    """

    torque_demand: float = 0.0
    torque_demand_true: float = 0.0
    excursion: float = 0.0
    speed: float = 0.0
    power: float = 0.0
    temperature: float = 0.0
    tilt: float = 0.0


class WorstWatch:
    """Keeps the largest values."""

    def __init__(self, robot: Robot) -> None:
        """Compile what is compiled; nothing seen yet."""
        self._lower, self._upper = robot.legs.lower, robot.legs.upper
        self._worst = np.zeros(7)
        self.note(np.zeros(19), np.zeros(18), np.zeros(12), np.zeros(12))
        self._worst[:] = 0.0

    def note_demand(self, told: float, true: float) -> None:
        """A command's law gave at most these torques [N m], at what was told and what was true."""
        self._worst[0] = max(self._worst[0], told)
        self._worst[1] = max(self._worst[1], true)

    def note(self, q: Array, v: Array, torque: Array, temperature: Array) -> None:
        """See one tick: q (19), v (18), torques and temperatures (12)."""
        _note(q, v, torque, temperature, self._lower, self._upper, self._worst)

    def values(self) -> WorstValues:
        """What the worst has been."""
        return WorstValues(*self._worst.tolist())


@njit(cache=True)
def _note(
    q: Array, v: Array, torque: Array, temperature: Array, lower: Array, upper: Array, worst: Array
) -> None:
    power = 0.0
    for i in range(12):
        worst[2] = max(worst[2], lower[i] - q[7 + i], q[7 + i] - upper[i])
        worst[3] = max(worst[3], abs(v[6 + i]))
        worst[5] = max(worst[5], temperature[i])
        power += abs(torque[i] * v[6 + i])
    worst[4] = max(worst[4], power)
    cosine = 1.0 - 2.0 * (q[3] * q[3] + q[4] * q[4])  # between the world's z and the base's
    worst[6] = max(worst[6], np.arccos(min(1.0, max(-1.0, cosine))))
