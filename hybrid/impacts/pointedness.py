"""Whether the friction cone is pointed (24): without it nothing promises that an impact ends."""

# ruff: noqa: N806 (the letters are the paper's)

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from hybrid.impacts.contact_problem import ContactProblem
from hybrid.systems import Array

POINTED = 1e-9  # smallest push along d, of unit forces, that is told from none


def extreme_forces(problem: ContactProblem) -> Array:
    """Unit generalised forces (m k, n) whose cone is the linear friction cone (22)."""
    k = problem.directions
    forces = np.repeat(problem.J_n, k, axis=0) + np.repeat(problem.mu, k)[:, None] * problem.J_D
    lengths = np.linalg.norm(forces, axis=1, keepdims=True)
    return np.divide(forces, lengths, out=np.zeros_like(forces), where=lengths > 0.0)


def pointed_direction(problem: ContactProblem) -> Array | None:
    """Direction d (n,) on which every contact force pushes, |d| <= 1 per component, (24).

    It maximises the least push of a unit force: a linear program. None where no force may be left
    out of the sum and yet they balance, such as a body jammed between two walls: then neither
    Theorem 3 nor Theorem 8 holds, and an impact may go on for ever.
    """
    forces = extreme_forces(problem)
    if not np.linalg.norm(forces, axis=1).all():
        return None  # friction cancels the normal force at a contact: it pushes nowhere
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
