"""Coordinates that all modes share, in which means and errors of many trials are taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hybrid.compiled.calls import put
from hybrid.compiled.functions import vector_table
from hybrid.filters.model import FilterModel
from hybrid.systems import Array, System, VectorFunction

CoordinatesByMode = Mapping[int, VectorFunction]  # (t, x, u) -> (d,), one a mode


def coordinate_table(model: FilterModel, coordinates: CoordinatesByMode | None) -> tuple[Any, ...]:
    """Compiled coordinates of each mode; the states themselves where they are left out.

    Raises:
        ValueError: a function does not compile.
    """
    if coordinates is None:
        return vector_table(())
    try:
        return vector_table([coordinates[mode] for mode in model.system.modes])
    except Exception as error:  # numba has no one error for what it cannot do
        text = " ".join(str(error).split())[:200]
        raise ValueError(f"coordinates do not compile: {text}") from error


def width(model: FilterModel, table: tuple[Any, ...], mode: int, x: Array) -> int:
    """Number d of coordinates, from those of a state x (n,) in a mode."""
    index, u = list(model.system.modes).index(mode), np.zeros(model.system.input_dim)
    return len(table[index](0.0, np.array(x, dtype=np.float64), u))


def common(
    system: System,
    modes: NDArray[np.int64],
    states: Array,
    coordinates: CoordinatesByMode | None,
) -> Array:
    """States (B, K+1, n) in coordinates (B, K+1, c) that do not depend on the mode."""
    if coordinates is None:
        return states
    numbers, u = list(system.modes), np.zeros(system.input_dim)
    first = np.asarray(coordinates[numbers[0]](0.0, states[0, 0].copy(), u))
    result = np.empty((*states.shape[:2], len(first)))
    dims = np.array([mode.state_dim for mode in system.modes.values()])
    table = vector_table([coordinates[number] for number in numbers])
    order = np.argsort(numbers)
    index = order[np.searchsorted(np.sort(numbers), modes)]
    convert(table, dims, index, states, u, result)
    return result


@njit(cache=True, error_model="numpy")
def convert(table, dims, modes, states, u, result):
    """Write the coordinates of every state; NaN where the state is."""
    for b in range(states.shape[0]):
        for k in range(states.shape[1]):
            x = states[b, k, : dims[modes[b, k]]].copy()
            put(result[b, k], table[modes[b, k]](0.0, x, u))
