"""What the invariant filter remembers, and where its errors stand in the covariance.

The error is right-invariant, exp(xi) = X_estimated X_true^-1, with xi = [xi_R, xi_v, xi_p, xi_d1 ..
xi_d4] in world axes; behind it stand the biases' errors, estimated minus true, in base axes.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numba import njit

from estimator import record
from estimator.record import Record, memory_type
from robots.rotations import Array

# Where each error begins in the covariance.
ROTATION, VELOCITY, POSITION, FEET = 0, 3, 6, 9
GYROSCOPE, ACCELEROMETER, ORIENTATION = 21, 24, 27
ERRORS = 30


class Memory(record.Memory, Protocol):
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


_TYPE = memory_type(
    rotation=(3, 3), vectors=(6, 3), biases=(3, 3), covariance=(ERRORS, ERRORS), contact=(4, 4),
    jump=(2,), ground=(4,),
)  # fmt: skip


def new_memory() -> Record:
    """Memory (1,) of a filter that has seen nothing: identity, no contact."""
    return record.new_memory(_TYPE, _begin)


@njit(cache=True)
def _begin(m: Memory) -> None:
    m.rotation[:], m.covariance[:], m.contact[0] = np.eye(3), np.eye(ERRORS), -1.0
