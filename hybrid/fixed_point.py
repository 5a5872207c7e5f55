"""Newton's method for a fixed point of a return map."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hybrid.return_derivative import LinearReturn
from hybrid.systems import Array

_HALVINGS = 12  # of a Newton step that makes the residual grow
_SINGULAR = 1e13  # condition of I - D_x P from which on a Newton step means nothing


class FixedPoint(NamedTuple):
    """Where Newton's method ended, and why; statuses as in ``hybrid.limit_cycle.LimitCycle``."""

    x: Array  # (n,)
    at: LinearReturn  # from x
    iterations: int
    status: str
    message: str = ""

    @property
    def residual(self) -> float:
        """Largest |P(x) - x|; NaN where x does not return."""
        comes_back = bool(np.all(np.isfinite(self.at.derivative)))
        return _residual(self.at, self.x) if comes_back else float("nan")


def find_fixed_point(
    linear: Callable[[Array], LinearReturn], x: Array, tolerance: float, max_iterations: int
) -> FixedPoint:
    """Solve P(x) = x from x (n,); ``linear`` gives P with its derivative. Steps are halved."""
    at = linear(x)
    for iteration in range(max_iterations):
        if at.status != "ok":
            return FixedPoint(x, at, iteration, at.status, at.message)
        if _residual(at, x) <= tolerance * max(1.0, float(np.max(np.abs(x)))):
            return FixedPoint(x, at, iteration, "ok")
        slope = np.eye(len(x)) - at.derivative
        if np.linalg.cond(slope) > _SINGULAR:
            message = f"the return map has a multiplier 1 at x = {x}: cycles are not isolated"
            return FixedPoint(x, at, iteration, "singular", message)
        step = np.asarray(np.linalg.solve(slope, at.found.state - x), dtype=np.float64)
        closer = _come_closer(linear, x, step, _residual(at, x))
        if closer is None:
            message = f"no part of the Newton step {step} from x = {x} comes closer: guess nearer"
            return FixedPoint(x, at, iteration, "no_descent", message)
        x, at = closer
    message = f"still off by {_residual(at, x):.3g} after {max_iterations} Newton steps at x = {x}"
    return FixedPoint(x, at, max_iterations, "not_converged", message)


def _come_closer(
    linear: Callable[[Array], LinearReturn], x: Array, step: Array, residual: float
) -> tuple[Array, LinearReturn] | None:
    """The longest halving of a Newton step that returns nearer to its start than x does."""
    for halving in range(_HALVINGS):
        trial = x + 0.5**halving * step
        at = linear(trial)
        if at.status == "ok" and _residual(at, trial) < residual:
            return trial, at
    return None


def _residual(at: LinearReturn, x: Array) -> float:
    return float(np.max(np.abs(at.found.state - x)))
