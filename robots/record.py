"""Many numbers as one argument of compiled code, which takes one array faster than many."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Record = NDArray[np.void]
"""An array (1,) whose element has named fields."""


def record(values: dict[str, Any]) -> Record:
    """Make a record of numbers, arrays and records in it; None is NaN there."""
    return np.array([_row_of(values)], _type_of(values))


def _row_of(values: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(
        _row_of(each) if isinstance(each, dict) else np.nan if each is None else each
        for each in values.values()
    )


def _type_of(values: dict[str, Any]) -> np.dtype[np.void]:
    kinds: list[Any] = [
        (name, _type_of(each)) if isinstance(each, dict) else (name, np.float64, np.shape(each))
        for name, each in values.items()
    ]
    return np.dtype((np.record, kinds))
