"""Types of arrays, for annotations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Pair = tuple[Array, Array]
Shape = tuple[int, ...]


def contiguous(array: Array) -> Array:
    """An array of floats as kernels take it."""
    return np.ascontiguousarray(array, float)
