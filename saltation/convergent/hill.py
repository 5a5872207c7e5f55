"""Hilly ground as a smooth height function with its derivatives, and the map it covers.

The derivatives are written with numpy's functions on x and y alone, so that one definition serves
numbers and arrays, numba (``numba.njit(hill.derivatives)``) and CasADi expressions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from saltation.convergent.hill_check import mistake
from saltation.systems import Array


class HillDerivatives(NamedTuple):
    """Height of a hill, its gradient and its Hessian at a place."""

    h: Any  # height [m]
    h_x: Any
    h_y: Any
    h_xx: Any  # [1/m]
    h_xy: Any
    h_yy: Any


@dataclass(frozen=True)
class Hill:
    """A hill h(x, y) over a rectangular map.

    Raises:
        ValueError: a side of the map is empty or not finite, or the derivatives are not six finite
            numbers, or not those of the height, by differences at a few places.
    """

    name: str
    derivatives: Callable[[Any, Any], tuple[Any, ...]]  # (x, y) -> the six of HillDerivatives
    x_bounds: tuple[float, float]  # of the map [m]
    y_bounds: tuple[float, float]

    def __post_init__(self) -> None:
        """Check the map, then the derivatives on it."""
        for name in ("x_bounds", "y_bounds"):
            given = getattr(self, name)
            try:
                low, high = (float(end) for end in given)
            except (TypeError, ValueError) as error:
                said = f"hill {self.name}: {name} {given!r}: give (lowest, highest) [m]"
                raise ValueError(said) from error
            if not -np.inf < low < high < np.inf:
                raise ValueError(f"hill {self.name}: {name} ({low}, {high}) hold no map")
            vars(self)[name] = (low, high)  # a list has no hash
        wrong = mistake(self.derivatives, *np.transpose((self.x_bounds, self.y_bounds)))
        if wrong:
            raise ValueError(f"hill {self.name}: {wrong}")

    def at(self, x: Any, y: Any) -> HillDerivatives:
        """Height, gradient and Hessian at (x, y)."""
        return HillDerivatives(*self.derivatives(x, y))

    def holds(self, position: Array) -> bool:
        """Whether the map has this position (2,) [m], its edge included."""
        (x_low, x_high), (y_low, y_high) = self.x_bounds, self.y_bounds
        return bool(x_low <= position[0] <= x_high and y_low <= position[1] <= y_high)


def sine_hill(x: Any, y: Any) -> tuple[Any, Any, Any, Any, Any, Any]:
    """h = 3 y + sin(x + x y), (2.24): height, gradient (x, y), Hessian (xx, xy, yy)."""
    s, c, w = np.sin(x + x * y), np.cos(x + x * y), 1.0 + y
    return 3.0 * y + s, c * w, 3.0 + c * x, -s * w * w, c - s * x * w, -s * x * x


SINE_HILL = Hill("sine hill", sine_hill, (-2.0, 2.0), (0.0, 2.5))  # (2.24)
