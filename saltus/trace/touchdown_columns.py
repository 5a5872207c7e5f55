"""Touchdowns among the members of a trace's file; files that are older have none."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.metrics.touchdowns import Touchdowns

_PREFIX = "touchdown_"  # begins the members' names


def to_members(touchdowns: Touchdowns | None) -> dict[str, NDArray[Any]]:
    """Members of the file, in single precision but for the time; none where nobody knows."""
    if touchdowns is None:
        return {}
    columns = touchdowns._asdict().items()
    return {
        _PREFIX + name: np.asarray(column, np.float64 if name == "time" else np.float32)
        for name, column in columns
    }


def from_members(file: Mapping[str, NDArray[Any]]) -> Touchdowns | None:
    """Those in a file; None where it is older than they are.

    Raises:
        KeyError: some of their members are missing.
        ValueError: their arrays do not fit together, or are not of finite numbers.
    """
    if _PREFIX + "time" not in file:
        return None
    found = Touchdowns(*(file[_PREFIX + name].astype(np.float64) for name in Touchdowns._fields))
    for name, column, empty in zip(Touchdowns._fields, found, Touchdowns.none(), strict=True):
        shape = (found.time.size, *empty.shape[1:])
        if column.shape != shape or not np.isfinite(column).all():
            raise ValueError(f"touchdowns: {name} is not {shape} of finite numbers")
    return found
