"""Limit cycles of hybrid systems: Newton's method on the return map, Floquet multipliers (3.4.3).

The multipliers are the eigenvalues of the monodromy matrix (3.33). In a system that does not
depend on time one of them is 1, along the flow, whose direction is the eigenvector F+; the others
are those of the Poincare map's Jacobian. In a system that is driven with a period the two matrices
are the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from saltation.return_map import EventSection, LinearReturn, ReturnMap
from saltation.simulation import EventRecord
from saltation.systems import Array

_REST = 10.0  # times the root of the tolerance: an orbit that is shorter is a rest
_HALVINGS = 12  # of a Newton step that makes the residual grow
_SINGULAR = 1e13  # condition of I - D_x P from which on a Newton step means nothing


class LimitCycle(NamedTuple):
    """A periodic orbit through ``state`` on the section, and the monodromy matrix about it.

    Status "ok"; "not_converged" after the last iteration; "no_descent" where no part of a Newton
    step came closer; "singular" where cycles are not isolated (a multiplier 1 of the return map);
    "at_rest" where the orbit has no length, as that of a ball that lies on the floor; "driven"
    where the system depends on time and the section is an event; else that of the return that
    failed, with its message.
    """

    return_map: ReturnMap  # in the mode of ``state``
    state: Array  # (n,)
    linear_return: LinearReturn  # from ``state``
    iterations: int
    status: str
    message: str = ""

    @property
    def ok(self) -> bool:
        """Whether this is a periodic orbit."""
        return self.status == "ok"

    @property
    def mode(self) -> int:
        """Number of the mode that ``state`` is in."""
        return self.return_map.mode

    @property
    def period(self) -> float:
        """Duration of the return [s]."""
        return self.linear_return.end.duration

    @property
    def events(self) -> tuple[EventRecord, ...]:
        """Events of one period, in order."""
        return self.linear_return.end.events

    @property
    def residual(self) -> float:
        """Largest |P(x) - x|; NaN where x does not return."""
        difference = self.linear_return.end.state - self.state
        return float(np.max(np.abs(difference))) if self.linear_return.status == "ok" else np.nan

    @property
    def monodromy(self) -> Array:
        """Phi (n, n), (3.33)."""
        return self.linear_return.Phi

    @property
    def multipliers(self) -> np.ndarray:
        """Floquet multipliers (n,), complex: eigenvalues of the monodromy matrix, largest first."""
        return sorted_eigenvalues(self.monodromy)

    @property
    def nontrivial_multipliers(self) -> np.ndarray:
        """Multipliers but the one along the flow: (n - 1,), or all n where the clock cuts."""
        values = self.multipliers
        if not isinstance(self.return_map.section, EventSection):
            return values
        return np.delete(values, np.argmin(np.abs(values - 1.0)))

    @property
    def stable(self) -> bool:
        """Whether all multipliers but the trivial one lie inside the unit circle (3.4.3)."""
        return self.ok and bool(np.all(np.abs(self.nontrivial_multipliers) < 1.0))


def sorted_eigenvalues(matrix: Array) -> np.ndarray:
    """Eigenvalues (n,) complex, by magnitude descending, then real and imaginary part.

    All are NaN where the matrix is not finite, as that of a cycle that was not found.
    """
    if not np.all(np.isfinite(matrix)):
        return np.full(len(matrix), np.nan, np.complex128)
    values = np.linalg.eigvals(matrix).astype(np.complex128)
    size = np.round(np.abs(values), 9)  # a conjugate pair is one magnitude
    return values[np.lexsort((-values.imag, -values.real, -size))]


def find_limit_cycle(
    return_map: ReturnMap, x: Array, tolerance: float = 1e-10, max_iterations: int = 30
) -> LimitCycle:
    """Solve P(x) = x by Newton's method with the derivative from saltation matrices.

    Args:
        return_map: P, from the mode that the guess is in.
        x: state near the cycle (n,). Where the section lies in another mode, P(x) is taken first,
            and then P from that mode.
        tolerance: largest |P(x) - x|, relative to the state's size where that is above 1.
        max_iterations: Newton steps, each halved until it comes closer.
    """
    x = np.asarray(x, float)
    by_event = isinstance(return_map.section, EventSection)
    first = return_map(x)
    if by_event and first.status == "ok" and first.mode != return_map.mode:
        return_map, x = replace(return_map, mode=first.mode), first.state
    cycle = _solve(return_map, x, tolerance, max_iterations)
    if by_event and cycle.linear_return.end.status == "ok":
        driven = return_map.time_dependence(cycle.state)
        if driven:
            message = (
                f"the {driven} depends on time, so the state does not come back to the same flow"
                " after an event: use a PhaseSection, with the period of what drives the system"
            )
            return cycle._replace(status="driven", message=message)
        if cycle.ok and _rests(cycle, tolerance):  # what the clock cuts may rest for an instant
            where = f"rest in mode {cycle.mode} at x = {cycle.state}, where the guess led"
            return cycle._replace(status="at_rest", message=f"{where}: guess farther from it")
    return cycle


def _solve(return_map: ReturnMap, x: Array, tolerance: float, max_iterations: int) -> LimitCycle:
    cycle = LimitCycle(return_map, x, return_map.linear(x), 0, "not_converged")
    for iteration in range(max_iterations + 1):
        x, linear, residual = cycle.state, cycle.linear_return, cycle.residual
        if linear.status != "ok":
            return cycle._replace(status=linear.status, message=linear.message)
        if residual <= tolerance * max(1.0, float(np.max(np.abs(x)))):
            return cycle._replace(status="ok")
        if iteration == max_iterations:
            break
        slope = np.eye(len(x)) - linear.derivative
        if np.linalg.cond(slope) > _SINGULAR:
            message = f"the return map has a multiplier 1 at x = {x}: cycles are not isolated"
            return cycle._replace(status="singular", message=message)
        step = np.asarray(np.linalg.solve(slope, linear.end.state - x), float)
        closer = _descend(cycle, step)
        if closer is None:
            message = f"no part of the Newton step {step} from x = {x} comes closer: guess nearer"
            return cycle._replace(status="no_descent", message=message)
        cycle = closer
    message = f"|P(x) - x| = {cycle.residual:.3g} after {max_iterations} Newton steps, at x = {x}"
    return cycle._replace(message=f"{message}: allow more, or guess nearer")


def _descend(cycle: LimitCycle, step: Array) -> LimitCycle | None:
    """Longest halving of a Newton step that has a smaller residual."""
    for halving in range(_HALVINGS):
        x = cycle.state + 0.5**halving * step
        trial = cycle._replace(
            state=x, linear_return=cycle.return_map.linear(x), iterations=cycle.iterations + 1
        )
        if trial.residual < cycle.residual:  # NaN where x does not return
            return trial
    return None


def _rests(cycle: LimitCycle, tolerance: float) -> bool:
    """Whether an orbit is too short to be told from a rest: time goes with the root of height."""
    system, u = cycle.return_map.system, cycle.return_map.held_input
    speed = float(np.max(np.abs(system.modes[cycle.mode].flow(0.0, cycle.state, u))))
    size = max(1.0, float(np.max(np.abs(cycle.state))))
    return speed * cycle.period <= _REST * np.sqrt(tolerance) * size
