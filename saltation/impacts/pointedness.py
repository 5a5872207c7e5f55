"""Whether the friction cone is pointed (24), which guarantees that an impact ends."""

# ruff: noqa: N806 (the letters are the paper's)

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from saltation.impacts.contact_problem import ContactProblem
from saltation.systems import Array

POINTED = 1e-9  # smallest component along d of unit forces that is positive beyond rounding


def extreme_forces(problem: ContactProblem) -> Array:
    """Unit generalised forces (m k, n) whose cone is the linear friction cone (22)."""
    k = problem.directions
    forces = np.repeat(problem.J_n, k, 0) + np.repeat(problem.mu, k)[:, None] * problem.J_D
    lengths = np.linalg.norm(forces, axis=1, keepdims=True)
    return np.divide(forces, lengths, out=np.zeros_like(forces), where=lengths > 0.0)


def pointed_direction(problem: ContactProblem) -> Array | None:
    """Direction d (n,) with d' f > 0 for every contact force f, |d_i| <= 1, (24).

    A linear program maximises the least component of a unit force. None where the cone is not
    pointed, such as for a body jammed between two walls: then Theorems 3 and 8 do not hold, and an
    impact may never end.
    """
    forces = extreme_forces(problem)
    if not np.linalg.norm(forces, axis=1).all():
        return None  # friction cancels the normal force of a contact
    n = problem.dim
    solution = linprog(
        np.append(np.zeros(n), -1.0),
        A_ub=np.hstack([-forces, np.ones((len(forces), 1))]),
        b_ub=np.zeros(len(forces)),
        bounds=[(-1.0, 1.0)] * n + [(None, None)],
        method="highs",
    )
    if solution.status != 0:
        return None
    d: Array = solution.x[:n]
    return d if (forces @ d > POINTED).all() else None
