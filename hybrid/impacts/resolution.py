"""Impacts with one outcome: all contacts at once (31), or one after another (section 2.2.2)."""

# ruff: noqa: N806 (the letters are the paper's)

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from hybrid.impacts.contact_problem import ContactProblem
from hybrid.impacts.impact_lcp import anitescu_potra_matrix
from hybrid.impacts.lemke import solve_lcp
from hybrid.systems import Array

ENUMERATED = 12  # unknowns up to which every complementary basis is tried: 4096 small systems
DRAWS = 400  # covering vectors beyond
SAME = 1e-7  # outcomes nearer than this part of |v|_M are one


class Resolution(NamedTuple):
    """One outcome of an impact, and how it came about."""

    v_plus: Array  # (n,)
    path: Array  # (p, n) velocities before, between and after the impacts
    status: str  # "separated", or "ray", "pivot_limit" of an LCP, or "step_limit"

    @property
    def ok(self) -> bool:
        """Whether no contact closes any more."""
        return self.status == "separated"


def simultaneous(problem: ContactProblem, v: Array, covering: Array | None = None) -> Resolution:
    """Resolve all contacts at once: the inelastic law (31) of Anitescu and Potra, as one LCP.

    Args:
        problem: the impact.
        v: velocity before (n,).
        covering: Lemke's covering vector; it chooses among the solutions where there are many.
    """
    v = np.asarray(v, dtype=np.float64)
    q = np.concatenate([problem.J_bar @ v, np.zeros(problem.count)])
    solution = solve_lcp(anitescu_potra_matrix(problem), q, covering)
    v_plus = v + problem.velocity_by_impulse @ solution.z[: len(problem.J_bar)]
    status = "separated" if solution.ok else solution.status
    return Resolution(v_plus, np.array([v, v_plus]), status)


def all_simultaneous(problem: ContactProblem, v: Array, seed: int = 0) -> list[Resolution]:
    """Distinct outcomes of (31), which friction may make many.

    All vertices of the solution set where there are at most 12 unknowns; beyond, those that
    Lemke's method finds from 400 covering vectors, which need not be all.
    """
    v = np.asarray(v, dtype=np.float64)
    W = anitescu_potra_matrix(problem)
    if len(W) <= ENUMERATED:
        q = np.concatenate([problem.J_bar @ v, np.zeros(problem.count)])
        found = [v + problem.velocity_by_impulse @ z[: len(problem.J_bar)] for z in _vertices(W, q)]
    else:
        rng = np.random.default_rng(seed)
        cover = [np.ones(len(W)), *np.exp(rng.normal(0.0, 2.0, (DRAWS, len(W))))]
        every = (simultaneous(problem, v, d) for d in cover)
        found = [each.v_plus for each in every if each.ok]
    return [Resolution(u, np.array([v, u]), "separated") for u in _distinct(problem, v, found)]


def sequential(
    problem: ContactProblem, v: Array, order: Sequence[int], max_impacts: int = 200
) -> Resolution:
    """Resolve one contact at a time by (31), going round ``order`` and over those that close.

    Each single impact dissipates, so the outcome has no more energy than v where it is reached;
    with more than two contacts nothing promises that it is (status "step_limit").

    Raises:
        ValueError: ``order`` names a contact that is not there, or leaves one out.
    """
    if sorted(set(order)) != list(range(problem.count)):
        raise ValueError(f"order {tuple(order)}: name each of the {problem.count} contacts")
    v = np.asarray(v, dtype=np.float64)
    path, singles = [v], [problem.only(i) for i in range(problem.count)]
    while problem.is_colliding(path[-1]):
        for i in order:
            if singles[i].is_colliding(path[-1]):
                hit = simultaneous(singles[i], path[-1])
                path.append(hit.v_plus)
                if not hit.ok or len(path) > max_impacts:
                    return Resolution(path[-1], np.array(path),
                                      "step_limit" if hit.ok else hit.status)  # fmt: skip
    return Resolution(path[-1], np.array(path), "separated")


def _vertices(W: Array, q: Array) -> list[Array]:
    """Solutions of an LCP whose positive unknowns are linearly independent, by trying all sets."""
    n, found = len(q), []
    room = 1e-10 * max(1.0, float(np.abs(q).max()))
    for choice in product((False, True), repeat=n):
        free = np.array(choice)
        z, block = np.zeros(n), W[np.ix_(free, free)]
        if free.any():
            if np.linalg.matrix_rank(block, tol=1e-11) < len(block):
                continue
            z[free] = np.linalg.solve(block, -q[free])
        if z.min() >= -room and (W @ z + q).min() >= -room:
            found.append(z)
    return found


def _distinct(problem: ContactProblem, v: Array, found: list[Array]) -> list[Array]:
    kept: list[Array] = []
    size = max(problem.kinetic_norm(v), 1e-300)
    for u in found:
        if all(problem.kinetic_norm(u - other) > SAME * size for other in kept):
            kept.append(u)
    return kept
