"""What the filter remembers between readings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimator.salted.layout import SIZE
from robots.a1.constants import STAND_HEIGHT, STAND_JOINTS

Array = NDArray[np.float64]

AGE, PROBABILITY, TRUST, OFFSET, CROSSED, HELD = range(6)
"""Rows of `Memory.contact`."""
LEVEL, VARIANCE = 0, 1
"""Rows of `Memory.ground`."""


class Memory(NamedTuple):
    """All that the filter remembers; the compiled functions write it in place."""

    q: Array
    """(19) configuration, `robots.state`."""
    v: Array
    """(18) velocity."""
    bias: Array
    """(9) of gyroscope [rad/s], accelerometer [m/s2] and attitude [rad], base axes."""
    previous: Array
    """(3) linear velocity at the tick before, in today's base axes [m/s]."""
    P: Array
    """(48, 48) covariance of the errors, in the order of `layout`."""
    contact: Array
    """(6, 4) rows: time since touchdown [s], -1 in the air; probability that the foot stands; how
    firmly it holds; zero of its force sensor [N]; probability that its guard is crossed; time for
    which it has held firmly [s]."""
    torque: Array
    """(12) last sound joint torques [N m]."""
    force: Array
    """(3) last sound specific force, base axes [m/s2]."""
    jump: Array
    """(5) how long the feet have agreed on a jump, what is left of its window [s], and the jump's
    direction in the world."""
    ground: Array
    """(2, 4) of the plane n x = c of the ground at each foot: c [m]; its variance [m2], 0 where the
    ground is known."""
    normal: Array
    """(4, 3) unit normal n of that plane, world axes."""
    footprint: Array
    """(4, 3) where each foot stood last: its contact point [m]."""


def new_memory() -> Memory:
    """Memory of a filter that has seen nothing: standing still, no contact, unit covariance."""
    q = np.concatenate(([0.0, 0.0, STAND_HEIGHT, 0.0, 0.0, 0.0, 1.0], STAND_JOINTS))
    contact = np.zeros((6, 4))
    contact[AGE] = -1.0
    return Memory(
        q, np.zeros(18), np.zeros(9), np.zeros(3), np.eye(SIZE), contact, np.zeros(12), np.zeros(3),
        np.zeros(5), np.zeros((2, 4)), np.tile(np.array([0.0, 0.0, 1.0]), (4, 1)), np.zeros((4, 3)),
    )  # fmt: skip
