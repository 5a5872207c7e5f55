"""Limit cycles of hybrid systems: Newton's method on the return map, Floquet multipliers (3.4.3).

The multipliers are the eigenvalues of the monodromy matrix (3.33). In a system that does not
depend on time one of them is 1, along the flow, whose direction is the eigenvector F+; the others
are those of the Poincare map's Jacobian. In a system that is driven with a period the two matrices
are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hybrid.poincare import EventSection, Section, return_map
from hybrid.return_derivative import LinearReturn, linear_return
from hybrid.simulation import Event, SimulationOptions
from hybrid.systems import Array, HybridSystem

_HALVINGS = 12  # of a Newton step that makes the residual grow
_SINGULAR = 1e13  # condition of I - D_x P from which on a Newton step means nothing


class LimitCycle(NamedTuple):
    """A periodic orbit through ``state`` on the section, and the monodromy matrix about it.

    Status "ok"; "not_converged" after the last iteration; "no_descent" where no part of a Newton
    step came closer; "singular" where cycles are not isolated (a multiplier 1 of the return map);
    else that of the return that failed, with its message.
    """

    section: Section
    mode: int
    state: Array  # (n,)
    period: float  # [s]
    monodromy: Array  # Phi (n, n), (3.33)
    return_derivative: Array  # D_x P (n, n)
    events: tuple[Event, ...]
    residual: float  # largest |P(x) - x|
    iterations: int
    status: str
    message: str = ""

    @property
    def ok(self) -> bool:
        """Whether this is a periodic orbit."""
        return self.status == "ok"

    @property
    def stable(self) -> bool:
        """Whether all multipliers but the trivial one lie inside the unit circle (3.4.3)."""
        return self.ok and bool(np.all(np.abs(nontrivial_multipliers(self)) < 1.0))


def sorted_eigenvalues(matrix: Array) -> np.ndarray:
    """Eigenvalues (n,) complex, by magnitude descending, then real and imaginary part."""
    values = np.linalg.eigvals(matrix).astype(np.complex128)
    size = np.round(np.abs(values), 9)  # a conjugate pair is one magnitude
    return values[np.lexsort((-values.imag, -values.real, -size))]


def multipliers(cycle: LimitCycle) -> np.ndarray:
    """Floquet multipliers (n,), complex: eigenvalues of the monodromy matrix, largest first."""
    return sorted_eigenvalues(cycle.monodromy)


def nontrivial_multipliers(cycle: LimitCycle) -> np.ndarray:
    """Multipliers but the one along the flow: (n - 1,), or all n where the clock is the section."""
    values = multipliers(cycle)
    if not isinstance(cycle.section, EventSection):
        return values
    return np.delete(values, np.argmin(np.abs(values - 1.0)))


def monodromy(
    system: HybridSystem,
    section: Section,
    mode: int,
    x: Array,
    u: Array | None = None,
    options: SimulationOptions | None = None,
) -> Array:
    """Monodromy matrix Phi (n, n) of the periodic orbit through x (n,) on a section, (3.33)."""
    return linear_return(system, section, mode, x, u, options).Phi


def find_limit_cycle(
    system: HybridSystem,
    mode: int,
    x_guess: Array,
    section: Section,
    u: Array | None = None,
    options: SimulationOptions | None = None,
    tolerance: float = 1e-10,
    max_iterations: int = 30,
) -> LimitCycle:
    """Solve P(x) = x by Newton's method with the derivative from saltation matrices.

    Args:
        system: the hybrid system.
        mode: number of the mode that the guess is in.
        x_guess: state near the cycle (n,). In another mode than the section's it is first carried
            to the section.
        section: where the cycle is cut.
        u: input (m,), held; zero if left out.
        options: accuracy of simulation.
        tolerance: largest |P(x) - x|, relative to the state's size where that is above 1.
        max_iterations: Newton steps, each halved until it comes closer.
    """
    x = np.asarray(x_guess, dtype=np.float64)
    first = return_map(system, section, mode, x, u, options)
    if isinstance(section, EventSection) and first.status == "ok" and first.mode != mode:
        mode, x = first.mode, first.state

    def linear(y: Array) -> LinearReturn:
        return linear_return(system, section, mode, y, u, options)

    end = _newton(linear, x, tolerance, max_iterations)
    return LimitCycle(
        section,
        mode,
        end.x,
        end.at.found.duration,
        end.at.Phi,
        end.at.derivative,
        end.at.found.events,
        _residual(end.at, end.x) if np.all(np.isfinite(end.at.derivative)) else np.nan,
        end.iterations,
        end.status,
        end.message,
    )


class _End(NamedTuple):
    """Where Newton's method ended, and why."""

    x: Array
    at: LinearReturn
    iterations: int
    status: str
    message: str = ""


def _newton(
    linear: Callable[[Array], LinearReturn], x: Array, tolerance: float, max_iterations: int
) -> _End:
    at = linear(x)
    for iteration in range(max_iterations):
        if at.status != "ok":
            return _End(x, at, iteration, at.status, at.message)
        if _residual(at, x) <= tolerance * max(1.0, float(np.max(np.abs(x)))):
            return _End(x, at, iteration, "ok")
        slope = np.eye(len(x)) - at.derivative
        if np.linalg.cond(slope) > _SINGULAR:
            message = f"the return map has a multiplier 1 at x = {x}: cycles are not isolated"
            return _End(x, at, iteration, "singular", message)
        step = np.asarray(np.linalg.solve(slope, at.found.state - x), dtype=np.float64)
        closer = _come_closer(linear, x, step, _residual(at, x))
        if closer is None:
            message = f"no part of the Newton step {step} from x = {x} comes closer: guess nearer"
            return _End(x, at, iteration, "no_descent", message)
        x, at = closer
    message = f"still off by {_residual(at, x):.3g} after {max_iterations} Newton steps at x = {x}"
    return _End(x, at, max_iterations, "not_converged", message)


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
