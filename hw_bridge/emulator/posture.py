"""How the robot is in the end, in one word."""

import math
from typing import Literal

import numpy as np

from robots.a1.constants import FALLEN_TILT, STAND_HEIGHT
from runtime.messages import GroundTruth

Posture = Literal["standing", "lying", "fallen", "moving"]

STILL = 0.05  # [rad/s] and [m/s], below which nothing moves
_FALLEN_COSINE = math.cos(FALLEN_TILT)  # past that tilt it is not up to its legs
_UP = 0.6 * STAND_HEIGHT  # [m], over which the trunk is carried


def is_still(truth: GroundTruth) -> bool:
    """Whether base and joints are at rest; false for a state that is not finite."""
    return bool(np.abs(truth.v).max() < STILL)


def posture_of(truth: GroundTruth) -> Posture:
    """Fallen past 60 degrees of tilt, on its feet, on its belly, or still on the way."""
    x, y = truth.q[3:5]
    if not 1.0 - 2.0 * (x * x + y * y) > _FALLEN_COSINE:
        return "fallen"
    if not is_still(truth):
        return "moving"
    stands = truth.q[2] > _UP and truth.contact.sum() >= 3.0 and not truth.trunk_contact
    return "standing" if stands else "lying"
