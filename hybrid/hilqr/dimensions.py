"""Modes of different dimension in arrays of one width: shorter states are padded with zeros."""

from __future__ import annotations

import numpy as np

from hybrid.systems import Array


def padded(array: Array, shape: tuple[int, ...]) -> Array:
    """An array with zeros after it up to a shape of as many axes; itself if it has that shape."""
    if array.shape == shape:
        return array
    wide = np.zeros(shape)
    wide[tuple(slice(length) for length in array.shape)] = array
    return wide
