"""Impacts with one outcome: all contacts at once (31), or one after another (section 2.2.2)."""

# ruff: noqa: N806 (the letters are the paper's)

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from saltation.impacts.contact_problem import ContactProblem
from saltation.impacts.impact_lcp import anitescu_potra_matrix, anitescu_potra_units
from saltation.impacts.lemke import solve_lcp
from saltation.impacts.step_kernel import GAIN
from saltation.systems import Array

ENUMERATED = 12  # unknowns up to which every complementary basis is tried: 4096 small systems
DRAWS = 400  # covering vectors beyond
RETRIES = 8  # covering vectors after the first
RANK = 1e-11  # singular values of a basis below this are rounding
NEGATIVE = 1e-10  # largest negative part of a solution's z and w
SAME = 1e-7  # outcomes closer than this part of |v|_M are the same


class Resolution(NamedTuple):
    """One outcome of an impact and the velocities on the way."""

    v_plus: Array  # (n,)
    path: Array  # (p, n) velocities before, between and after the impacts
    status: str  # "separated", "step_limit", or that of an LCP that was not solved
    message: str = ""  # empty where separated; else the configuration and a remedy

    @property
    def ok(self) -> bool:
        """Whether no contact closes any more."""
        return self.status == "separated"


def simultaneous(problem: ContactProblem, v: Array, covering: Array | None = None) -> Resolution:
    """Resolve all contacts at once: the inelastic law (31) of Anitescu and Potra, as one LCP.

    Args:
        problem: the impact.
        v: velocity before (n,).
        covering: Lemke's covering vector, in the units of `impact_lcp.anitescu_potra_units`; it
            selects one of several solutions. None for the units' floor, and random ones if that
            fails because of rounding.

    Raises:
        ValueError: v is not n finite numbers.
    """
    lcp = _Lcp.of(problem, v)
    first = lcp.floor if covering is None else covering
    result, rng = _resolve(problem, lcp, first), np.random.default_rng(0)
    for _ in range(RETRIES if covering is None else 0):
        if result.ok:
            break
        result = _resolve(problem, lcp, lcp.floor * np.exp(rng.normal(size=len(lcp.q))))
    return result


def all_simultaneous(problem: ContactProblem, v: Array, seed: int = 0) -> list[Resolution]:
    """Distinct outcomes of (31); with friction there may be many. A failed one if there is none.

    With at most 12 unknowns every complementary basis is tried; with more, 400 covering vectors of
    Lemke's method, which may miss outcomes. If the friction cone is not pointed, outcomes with
    impulses that balance each other belong to no basis and are not among the results.

    Raises:
        ValueError: v is not n finite numbers.
    """
    lcp = _Lcp.of(problem, v)
    if len(lcp.q) <= ENUMERATED:
        solutions = [lcp.velocity(z) for z in _basic_solutions(lcp.W, lcp.q)]
    else:
        rng = np.random.default_rng(seed)
        cover = [np.ones(len(lcp.q)), *np.exp(rng.normal(0.0, 2.0, (DRAWS, len(lcp.q))))]
        results = (_resolve(problem, lcp, lcp.floor * d) for d in cover)
        solutions = [each.v_plus for each in results if each.ok]
    distinct = _distinct(problem, lcp.v, solutions)
    outcomes = [Resolution(u, np.array([lcp.v, u]), "separated") for u in distinct]
    return outcomes or [simultaneous(problem, v)]


def sequential(
    problem: ContactProblem, v: Array, order: Sequence[int], max_impacts: int = 200
) -> Resolution:
    """Resolve one contact at a time by (31), cyclically in ``order``, while contacts close.

    Each single impact dissipates, so the outcome has no more energy than v. With more than two
    contacts the sequence need not end (status "step_limit").

    Raises:
        ValueError: ``order`` does not name every contact; v is not n finite numbers; or
            ``max_impacts`` is no positive whole number.
    """
    if not (isinstance(max_impacts, int | np.integer) and max_impacts > 0):
        raise ValueError(f"{problem.name or 'impact'}: max_impacts is {max_impacts}; give a whole"
                         " number > 0")  # fmt: skip
    if sorted(set(order)) != list(range(problem.count)):
        raise ValueError(
            f"{problem.name or 'impact'}: order {tuple(order)} of contacts"
            f" {', '.join(problem.contacts)}; name each of the {problem.count} contacts, from 0"
        )
    v = problem.velocity(v)
    path, singles = [v], [problem.only(i) for i in range(problem.count)]
    while problem.is_colliding(path[-1]):
        for i in order:
            if not singles[i].is_colliding(path[-1]):
                continue
            result = simultaneous(singles[i], path[-1])
            if not result.ok:
                return Resolution(path[-1], np.array(path), result.status, result.message)
            path.append(result.v_plus)
            if len(path) > max_impacts and problem.is_colliding(result.v_plus):
                message = (
                    f"{problem.at(v)}: still collides after {max_impacts} single impacts at"
                    f" {', '.join(problem.contacts[i] for i in order)} in turn; raise max_impacts,"
                    " or resolve all contacts at once"
                )
                return Resolution(result.v_plus, np.array(path), "step_limit", message)
    return Resolution(path[-1], np.array(path), "separated")


class _Lcp(NamedTuple):
    """(31) in scaled units, and the map back to velocities."""

    v: Array  # before the impact (n,)
    W: Array  # (N, N)
    q: Array  # (N,) its largest entry one
    floor: Array  # (N,) w that is not small
    by_unknowns: Array  # (n, N) change of velocity by each unknown

    @staticmethod
    def of(problem: ContactProblem, v: Array) -> _Lcp:
        v = problem.velocity(v)
        rows, unknowns, floor = anitescu_potra_units(problem)
        q = rows * np.concatenate([problem.J_bar @ v, np.zeros(problem.count)])
        size = float(np.abs(q).max()) or 1.0
        by = np.hstack([problem.velocity_by_impulse, np.zeros((problem.dim, problem.count))])
        W = rows[:, None] * anitescu_potra_matrix(problem) * unknowns
        return _Lcp(v, W, q / size, floor, size * by * unknowns)

    def velocity(self, z: Array) -> Array:
        """v + M^-1 J_bar' lambda."""
        return self.v + self.by_unknowns @ z


def _resolve(problem: ContactProblem, lcp: _Lcp, covering: Array) -> Resolution:
    solution = solve_lcp(lcp.W, lcp.q, covering, floor=lcp.floor)
    status, v_plus = solution.status, lcp.velocity(solution.z)
    limit = (1.0 + GAIN) * problem.kinetic_energy(lcp.v)
    if solution.ok:
        status = "separated" if problem.kinetic_energy(v_plus) <= limit else "inaccurate"
    message = ""
    if status != "separated":
        message = (
            f"{problem.at(lcp.v)}: the impact's LCP was not solved ({status}) because of rounding;"
            f" try another covering vector, or less friction than {problem.mu.max():g}"
        )
    return Resolution(v_plus, np.array([lcp.v, v_plus]), status, message)


def _basic_solutions(W: Array, q: Array) -> list[Array]:
    """Solutions of an LCP whose positive unknowns are linearly independent, by trying all sets."""
    n, solutions = len(q), []
    for choice in product((False, True), repeat=n):
        free = np.array(choice)
        z, block = np.zeros(n), W[np.ix_(free, free)]
        if free.any():
            if np.linalg.matrix_rank(block, tol=RANK) < len(block):
                continue
            z[free] = np.linalg.solve(block, -q[free])
        if z.min() >= -NEGATIVE and (W @ z + q).min() >= -NEGATIVE:
            solutions.append(z)
    return solutions


def _distinct(problem: ContactProblem, v: Array, solutions: list[Array]) -> list[Array]:
    distinct: list[Array] = []
    size = max(problem.kinetic_norm(v), 1e-300)
    for u in solutions:
        if all(problem.kinetic_norm(u - other) > SAME * size for other in distinct):
            distinct.append(u)
    return distinct
