"""What the filter remembers between readings, and the form in which a reading reaches it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]

LARGEST_NUMBER = 1e6


class Memory(NamedTuple):
    """All that the filter remembers, written in place by `advance` and `restart`."""

    x: Array
    """(3, 6) per world axis: base position [m], velocity [m/s], four foot positions [m]."""
    covariance: Array
    """(3, 6, 6) of `x`, axis by axis."""
    contact: Array
    """(4, 4) rows: time since touchdown [s], -1 in the air; probability; trust; offset [N]."""
    jump: Array
    """(2,) how long the stance feet have agreed on a jump, what is left of its window [s]."""
    ground: Array
    """(4) height of the ground below each foot [m]; NaN where it is not known."""


def new_memory() -> Memory:
    """Memory of a filter that has seen nothing: identity covariance, no contact."""
    contact = np.zeros((4, 4))
    contact[0] = -1.0
    return Memory(
        np.zeros((3, 6)), np.tile(np.eye(6), (3, 1, 1)), contact, np.zeros(2), np.zeros(4)
    )


@njit(cache=True)
def usable(reading: Array) -> bool:
    """Whether a reading's row (38) is finite, of possible size, with a quaternion near unity."""
    for value in reading:
        if not abs(value) < LARGEST_NUMBER:
            return False
    norm = np.sqrt((reading[:4] * reading[:4]).sum())
    return 0.9 < norm < 1.1
