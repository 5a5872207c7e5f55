"""Bounds of inputs: of every timestep, and of the changes of a trajectory's inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from saltation.systems import Array

ROUNDING = 1e-6  # of a bound: some rollouts work in single precision


class Box(NamedTuple):
    """low <= du <= high, both (N, m), of the changes of a trajectory's inputs."""

    low: Array
    high: Array


@dataclass(frozen=True)
class InputBounds:
    """low <= u <= high, both (m,); infinite where an input has no bound.

    As ``bounds`` of a solver they hold in every iteration.
    """

    low: Array
    high: Array

    def __post_init__(self) -> None:
        """Check that an input can meet both.

        Raises:
            ValueError: names the first input that cannot.
        """
        low, high = np.asarray(self.low), np.asarray(self.high)
        if low.shape != high.shape or low.ndim != 1:
            raise ValueError(f"bounds of shapes {low.shape} and {high.shape}: give both (m,)")
        for i in np.flatnonzero(~(low <= high)).tolist():
            raise ValueError(f"input {i} has the bounds {low[i]} and {high[i]}: none is between")

    def about(self, inputs: Array) -> Box:
        """Bounds of the changes of inputs (N, m)."""
        return Box(self.low - inputs, self.high - inputs)

    def hold(self, inputs: Array) -> bool:
        """Whether inputs (..., m) are between them, but for rounding."""
        slack = ROUNDING * (1.0 + np.abs(inputs))
        return bool(np.all((inputs >= self.low - slack) & (inputs <= self.high + slack)))
