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
    u, m = np.array(u, float), system.input_dim  # a copy: kernels write on no one's array
    if u.shape != (m,):
        raise ValueError(f"an input has shape {u.shape}; the system takes ({m},): give that")
    return u


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
    if not callable(inputs):
        inputs = np.zeros(system.input_dim) if inputs is None else np.asarray(inputs, float)
    many = callable(inputs) or inputs.ndim == 2
    if many and timestep is None:
        raise ValueError("inputs that change with time need a timestep to be held for: give one")
    length = duration if timestep is None else timestep
    steps = 1 if timestep is None else max(1, math.ceil(duration / length - _WHOLE))
    if many and not callable(inputs) and len(inputs) < steps:
        raise ValueError(
            f"{duration} s in timesteps of {length} s needs {steps} inputs, and there are"
            f" {len(inputs)}: give more, or simulate for less"
        )

    def row(k: int) -> ArrayLike:
        return inputs(t + k * length) if callable(inputs) else inputs[k] if many else inputs

    ends = (t + (duration if k == steps - 1 else (k + 1) * length) for k in range(steps))
    return ((end, held_input(system, row(k))) for k, end in enumerate(ends))
