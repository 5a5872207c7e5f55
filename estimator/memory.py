"""What the leg-odometry filter remembers between readings."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numba import njit

from estimator import record
from estimator.record import Record, memory_type
from robots.rotations import Array


class Memory(record.Memory, Protocol):
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


_TYPE = memory_type(x=(3, 6), covariance=(3, 6, 6), contact=(4, 4), jump=(2,), ground=(4,))


def new_memory() -> Record:
    """Memory (1,) of a filter that has seen nothing: identity covariance, no contact."""
    return record.new_memory(_TYPE, _begin)


@njit(cache=True)
def _begin(m: Memory) -> None:
    for axis in range(3):
        m.covariance[axis] = np.eye(6)
    m.contact[0] = -1.0
