"""What the invariant filter remembers, and where its errors stand in the covariance.

The error is right-invariant, exp(xi) = X_estimated X_true^-1, with xi = [xi_R, xi_v, xi_p, xi_d1 ..
xi_d4] in world axes; behind it stand the biases' errors, estimated minus true, in base axes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Where each error begins in the covariance.
ROTATION, VELOCITY, POSITION, FEET = 0, 3, 6, 9
GYROSCOPE, ACCELEROMETER, ORIENTATION = 21, 24, 27
ERRORS = 30


class Memory(NamedTuple):
    """All that the filter remembers, written in place by `advance` and `restart`."""

    rotation: Array
    """R (3, 3), base to world."""
    vectors: Array
    """(6, 3) rows v [m/s], p [m] and the contacts d_1 .. d_4 [m], world axes."""
    biases: Array
    """(3, 3) rows: gyroscope [rad/s], accelerometer [m/s2], orientation sensor [rad]."""
    covariance: Array
    """(30, 30) of the errors, see the module."""
    contact: Array
    """(4, 4) rows: time since touchdown [s], -1 in the air; probability; trust; offset [N]."""
    jump: Array
    """(2,) how long the stance feet have agreed on a jump, what is left of its window [s]."""
    ground: Array
    """(4) height of the ground below each foot [m]; NaN where it is not known."""


def new_memory() -> Memory:
    """Memory of a filter that has seen nothing: identity, no contact."""
    contact = np.zeros((4, 4))
    contact[0] = -1.0
    return Memory(
        np.eye(3), np.zeros((6, 3)), np.zeros((3, 3)), np.eye(ERRORS), contact, np.zeros(2),
        np.zeros(4),
    )  # fmt: skip
