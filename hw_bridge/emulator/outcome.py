"""The worst that the emulated robot was asked for and did, and how it is in the end."""

from typing import Literal

import msgspec
import numpy as np
from numba import njit
from numpy.typing import NDArray

from robots.conventions import FALLEN_TILT
from robots.robot import Robot
from robots.rotations import tilt_of
from runtime.messages import GroundTruth

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
        """A command's law gave at most these torques [N m], at measured and at true joints."""
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
    worst[6] = max(worst[6], tilt_of(q[3:7]))


Posture = Literal["standing", "lying", "fallen", "moving"]

STILL = 0.05  # [rad/s] and [m/s], below which nothing moves
_UP = 0.6  # of the stand's height, over which the trunk is carried


def is_still(truth: GroundTruth) -> bool:
    """Whether base and joints are at rest; false for a state that is not finite."""
    return bool(np.abs(truth.v).max() < STILL)


def posture_of(truth: GroundTruth, stand_height: float) -> Posture:
    """Fallen past 60 degrees of tilt, on its feet, on its belly, or still on the way."""
    if not tilt_of(truth.q[3:7]) < FALLEN_TILT:
        return "fallen"
    if not is_still(truth):
        return "moving"
    is_up = truth.q[2] > _UP * stand_height
    stands = is_up and truth.contact.sum() >= 3.0 and not truth.trunk_contact
    return "standing" if stands else "lying"
