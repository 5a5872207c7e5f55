"""Modes of different dimension in arrays of one width: shorter states are padded with zeros."""

from __future__ import annotations

import numpy as np

from hybrid.systems import Array


def padded(array: Array, shape: tuple[int, ...]) -> Array:
    """An array with zeros after it up to a shape of as many axes; itself where nothing lacks."""
    if array.shape == shape:
        return array
    whole = np.zeros(shape)
    whole[tuple(slice(length) for length in array.shape)] = array
    return whole
