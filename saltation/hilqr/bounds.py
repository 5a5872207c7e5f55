"""Bounds of inputs: of every timestep, and of the changes of a trajectory's inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from saltation.arrays import Integers, Pair
from saltation.systems import Array

ROUNDING = 1e-6  # of a bound: some rollouts work in single precision


class Box(NamedTuple):
    """low <= du <= high, both (N, m), of the changes of a trajectory's inputs."""

    low: Array
    high: Array


@dataclass(frozen=True)
class InputBounds:
    """low <= u <= high, both (m,); infinite where an input has no bound.

    As ``bounds`` of a solver they hold in every iteration. They are ``Constraints`` too.
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

    @property
    def names(self) -> Sequence[str]:
        """Names of the bounds, for messages."""
        count = range(len(self.low))
        return [*(f"least input {i}" for i in count), *(f"most input {i}" for i in count)]

    def values(self, states: Array, inputs: Array) -> Array:
        """See `Constraints`; nothing is bounded at the last knot."""
        excess = np.concatenate((self.low - inputs, inputs - self.high), axis=2)
        last = np.full((len(inputs), 1, excess.shape[2]), -np.inf)
        return np.concatenate((excess, last), axis=1)

    def jacobians(self, states: Array, inputs: Array, knots: Integers) -> Pair:
        """See `Constraints`; of states in R^n."""
        m, count = inputs.shape[1], len(knots)
        sides = np.concatenate((-np.eye(m), np.eye(m)))
        return np.zeros((count, 2 * m, states.shape[1])), np.tile(sides, (count, 1, 1))
