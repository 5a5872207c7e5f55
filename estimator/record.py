"""The record that a filter remembers, and the rows that it reads and writes, for compiled code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, fields, is_dataclass
from typing import Any, Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

from estimator.health.past import PAST, Past, forget
from robots.rotations import Array

Record = NDArray[np.void]

TIME, SENSORS = 1, 2
"""In a reading's row, behind its tick: the time [s], and the sensors' numbers, `health.layout`."""
Q, V, CONTACT, STATUS = 2, 21, 39, 43
"""In an estimate's row, behind tick and time."""
OK, DEGRADED, DIVERGED, STARTING = 0.0, 1.0, 2.0, 3.0
"""Numbers of an estimate's status."""


class Memory(Protocol):
    """What every filter remembers between readings; compiled functions write it in place."""

    past: Past
    """What the monitor of the sensors remembers."""
    time: float
    """Of the last reading that was used [s]; NaN while there is no state."""
    place: Array
    """(2) where to begin [m]."""
    divergences: float
    """Readings that could not be used, and re-initialisations."""


def memory_type(**arrays: tuple[int, ...]) -> np.dtype[np.void]:
    """The type of a `Memory` with a filter's own arrays of these shapes; () is a number."""
    shapes = {"time": (), "place": (2,), "divergences": (), **arrays}
    own = [(name, np.float64, shape) for name, shape in shapes.items()]
    return np.dtype((np.record, [("past", PAST), *own]))


def new_memory(kind: np.dtype[np.void], begin: Callable[[Any], None]) -> Record:
    """One record (1,) of a filter that has seen nothing; `begin` writes its own arrays."""
    memory = np.zeros(1, kind)
    _forget(memory[0])
    begin(memory[0])
    return memory


@njit(cache=True)
def _forget(m: Memory) -> None:
    forget(m.past)
    m.time = np.nan


def record_of(options: Any) -> Record:
    """A dataclass of numbers and such dataclasses as one record (1,) for compiled functions."""
    return np.array([astuple(options)], _type_of(options))


def _type_of(value: Any) -> Any:
    if not is_dataclass(value):
        return np.float64
    return np.dtype(
        (np.record, [(field.name, _type_of(getattr(value, field.name))) for field in fields(value)])
    )
