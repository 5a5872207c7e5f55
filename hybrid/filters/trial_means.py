"""What filters over many trials answer: means in coordinates that all modes share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from hybrid.compiled.system import vector_table
from hybrid.filters.model import FilterModel
from hybrid.systems import Array, VectorFunction

Coordinates = Mapping[int, VectorFunction]  # (t, x, u) -> (d,), one a mode


class TrialMeans(NamedTuple):
    """Means of B trials over K timesteps, row 0 at the start."""

    means: Array  # (B, K+1, d)
    unsound: int  # timesteps of all trials in which no estimate explained the measurement


def coordinate_table(model: FilterModel, coordinates: Coordinates | None) -> tuple[Any, ...]:
    """Compiled coordinates of each mode; the states themselves where they are left out.

    Raises:
        ValueError: a function does not compile.
    """
    if coordinates is None:
        return vector_table(())
    try:
        return vector_table([coordinates[mode] for mode in model.system.modes])
    except Exception as error:  # numba has no one error for what it cannot do
        raise ValueError(f"coordinates do not compile: {' '.join(str(error).split())[:200]}") from (
            error
        )


def width(model: FilterModel, table: tuple[Any, ...], mode: int, x: Array) -> int:
    """Number d of coordinates, from those of a state x (n,) in a mode."""
    index, u = list(model.system.modes).index(mode), np.zeros(model.system.input_dim)
    return len(table[index](0.0, np.array(x, dtype=np.float64), u))
