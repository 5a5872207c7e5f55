"""What a foot can push: a linearised friction pyramid and limits of the normal force.

For a foot in contact |fx| <= mu fz, |fy| <= mu fz and f_min <= fz <= f_max; f = 0 for a foot in the
air. Forces are along the axes of the ground's surface below the foot (`surface_frames`): z is its
normal.

The rows of a foot in the air stay those of an inequality, with f_min = 0: its force moves nothing
in a problem that leaves it out of the dynamics, so that what it costs draws it to 0. The kinds of
the rows then never change, and a solver keeps its factors where only contacts do.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]

ROWS = 5  # of a foot: two for each tangent, one for the normal


def friction_rows(feet: int, friction: float) -> sparse.csc_matrix:
    """Return C (5 feet, 3 feet) of lower <= C f <= upper for stacked forces f.

    Rows of a foot: fx - mu fz, fx + mu fz, fy - mu fz, fy + mu fz, fz; the first four over mu where
    it is above 1, so that no row outweighs the others.
    """
    block = np.array([[1, 0, -friction], [1, 0, friction], [0, 1, -friction], [0, 1, friction]])
    rows = np.vstack((block / max(1.0, friction), [0.0, 0.0, 1.0]))
    return sparse.csc_matrix(sparse.block_diag([rows] * feet))


@njit(cache=True)
def friction_bounds(
    contacts: Array, force_min: float, force_max: float, lower: Array, upper: Array
) -> None:
    """Write the bounds (5 n,) of `friction_rows` for n feet, in contact where contacts > 0.5."""
    for foot in range(contacts.size):
        row = ROWS * foot
        for tangent in (row, row + 2):
            lower[tangent], upper[tangent] = -np.inf, 0.0
            lower[tangent + 1], upper[tangent + 1] = 0.0, np.inf
        lower[row + 4] = force_min if contacts[foot] > 0.5 else 0.0
        upper[row + 4] = force_max


@njit(cache=True)
def clip_forces(
    forces: Array, contacts: Array, friction: float, force_min: float, force_max: float
) -> None:
    """Move forces (n, 3) [N] into their limits in place; zero for feet not in contact (n,).

    The normal force is clipped first, then the tangents to what it allows.
    """
    for foot in range(forces.shape[0]):
        if not contacts[foot] > 0.5:
            forces[foot] = 0.0
            continue
        normal = min(max(forces[foot, 2], force_min), force_max)
        most = friction * normal
        forces[foot, 2] = normal
        for axis in range(2):
            forces[foot, axis] = min(max(forces[foot, axis], -most), most)


def check_limits(friction: float, force_max: float, force_min: float) -> None:
    """Raise ValueError for limits that no force could keep."""
    if not 0.0 < friction < np.inf:
        raise ValueError(f"friction is {friction:g}; give a number above 0")
    if not 0.0 <= force_min < force_max < np.inf:
        raise ValueError(
            f"force_min is {force_min:g} and force_max {force_max:g} [N]; "
            "give 0 <= force_min < force_max"
        )
