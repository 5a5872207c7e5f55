"""How the robot is in the end, in one word."""

import math
from typing import Literal

import numpy as np

from robots.conventions import FALLEN_TILT
from runtime.messages import GroundTruth

Posture = Literal["standing", "lying", "fallen", "moving"]

STILL = 0.05  # [rad/s] and [m/s], below which nothing moves
_FALLEN_COSINE = math.cos(FALLEN_TILT)  # past that tilt it is not up to its legs
_UP = 0.6  # of the stand's height, over which the trunk is carried


def is_still(truth: GroundTruth) -> bool:
    """Whether base and joints are at rest; false for a state that is not finite."""
    return bool(np.abs(truth.v).max() < STILL)


def posture_of(truth: GroundTruth, stand_height: float) -> Posture:
    """Fallen past 60 degrees of tilt, on its feet, on its belly, or still on the way."""
    x, y = truth.q[3:5]
    if not 1.0 - 2.0 * (x * x + y * y) > _FALLEN_COSINE:
        return "fallen"
    if not is_still(truth):
        return "moving"
    is_up = truth.q[2] > _UP * stand_height
    stands = is_up and truth.contact.sum() >= 3.0 and not truth.trunk_contact
    return "standing" if stands else "lying"
