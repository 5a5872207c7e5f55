"""Inputs of a simulation, held over timesteps: zeros, a constant, rows of an array, a function."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from saltation.systems import Array, System

Inputs = ArrayLike | Callable[[float], ArrayLike] | None
_WHOLE = 1e-9  # of a timestep: a duration this close to a whole number of them is one


def held_input(system: System, u: ArrayLike | None) -> Array:
    """Input (m,) that is held: the given one, or zeros for every mode.

    Raises:
        ValueError: it has another width than the system takes.
    """
    if u is None:
        return np.zeros(system.input_dim)
    return _check(np.array(u, float), system.input_dim)


def held_inputs(
    system: System, inputs: Inputs, t: float, duration: float, timestep: float | None
) -> Iterator[tuple[float, Array]]:
    """End [s] of each timestep and the input (m,) held until then, from the time t [s] on.

    Raises:
        ValueError: a length of time that is not positive, inputs of the wrong shape, too few of
            them, or ones that need a timestep and have none.
    """
    if not (0.0 <= duration < math.inf and math.isfinite(t) and (timestep is None or timestep > 0)):
        raise ValueError(
            f"t = {t} s, duration {duration} s and timestep {timestep} s: times must be finite, the"
            " duration not negative, and the timestep positive or left out"
        )
    many = callable(inputs) or np.ndim(inputs) == 2  # type: ignore[arg-type]
    if many and timestep is None:
        raise ValueError("inputs that change with time need a timestep to be held for: give one")
    length = duration if timestep is None else timestep
    steps = 1 if timestep is None else max(1, math.ceil(duration / length - _WHOLE))
    if not callable(inputs) and many and len(np.asarray(inputs)) < steps:
        raise ValueError(
            f"{duration} s in timesteps of {length} s needs {steps} inputs, and there are"
            f" {len(np.asarray(inputs))}: give more, or simulate for less"
        )
    return _rows(system, inputs, t, duration, length, steps)


def _rows(
    system: System, inputs: Inputs, t: float, duration: float, length: float, steps: int
) -> Iterator[tuple[float, Array]]:
    m = system.input_dim
    rows = None if callable(inputs) or inputs is None else np.asarray(inputs, float)
    for k in range(steps):
        start, end = t + k * length, t + (duration if k == steps - 1 else (k + 1) * length)
        if callable(inputs):
            u = np.array(inputs(start), float)
        elif rows is None:
            u = held_input(system, None)
        else:
            u = np.array(rows[k] if rows.ndim == 2 else rows)  # kernels write on no one's array
        yield end, _check(u, m)


def _check(u: Array, m: int) -> Array:
    if u.shape != (m,):
        raise ValueError(f"an input has shape {u.shape}; the system takes ({m},): give that")
    return u
