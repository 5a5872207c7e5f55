"""Limit cycles of hybrid systems: Newton's method on the return map, Floquet multipliers (3.4.3).

The multipliers are the eigenvalues of the monodromy matrix (3.33). In a system that does not
depend on time one of them is 1, along the flow, whose direction is the eigenvector F+; the others
are those of the Poincare map's Jacobian. In a system that is driven with a period the two matrices
are the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybrid.fixed_point import find_fixed_point
from hybrid.held_inputs import held_input
from hybrid.options import SimulationOptions
from hybrid.poincare import EventSection, Return, Section, return_map
from hybrid.return_derivative import LinearReturn, linear_return
from hybrid.simulation import Event
from hybrid.systems import Array, System

_REST = 10.0  # times the root of the tolerance: an orbit that is shorter is a rest


class LimitCycle(NamedTuple):
    """A periodic orbit through ``state`` on the section, and the monodromy matrix about it.

    Status "ok"; "not_converged" after the last iteration; "no_descent" where no part of a Newton
    step came closer; "singular" where cycles are not isolated (a multiplier 1 of the return map);
    "at_rest" where the orbit has no length, as that of a ball that lies on the floor; else that of
    the return that failed, with its message.
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
    """Eigenvalues (n,) complex, by magnitude descending, then real and imaginary part.

    All are NaN where the matrix is not finite, as that of a cycle that was not found.
    """
    if not np.all(np.isfinite(matrix)):
        return np.full(len(matrix), np.nan, dtype=np.complex128)
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
    system: System,
    section: Section,
    mode: int,
    x: Array,
    u: Array | None = None,
    options: SimulationOptions | None = None,
) -> Array:
    """Monodromy matrix Phi (n, n) of the periodic orbit through x (n,) on a section, (3.33)."""
    return linear_return(system, section, mode, x, u, options).Phi


def find_limit_cycle(
    system: System,
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

    end = find_fixed_point(linear, x, tolerance, max_iterations)
    found = end.at.found
    cut_by_event = isinstance(section, EventSection)  # what the clock cuts may rest for an instant
    if cut_by_event and end.status == "ok" and _rests(system, mode, end.x, u, found, tolerance):
        message = f"rest in mode {mode} at x = {end.x}, where the guess led: guess farther from it"
        end = end._replace(status="at_rest", message=message)
    return LimitCycle(
        section,
        mode,
        end.x,
        found.duration,
        end.at.Phi,
        end.at.derivative,
        found.events,
        end.residual,
        end.iterations,
        end.status,
        end.message,
    )


def _rests(
    system: System, mode: int, x: Array, u: Array | None, found: Return, tolerance: float
) -> bool:
    """Whether an orbit is too short to be told from a rest: time goes with the root of height."""
    speed = float(np.max(np.abs(system.modes[mode].flow(0.0, x, held_input(system, u)))))
    size = max(1.0, float(np.max(np.abs(x))))
    return speed * found.duration <= _REST * np.sqrt(tolerance) * size
