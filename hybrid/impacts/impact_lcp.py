"""Impacts as linear complementarity problems: Anitescu and Potra (31)-(33), and the step (75)."""

# ruff: noqa: N803, N806 (the letters are the paper's)

from __future__ import annotations

import numpy as np

from hybrid.impacts.contact_problem import ContactProblem
from hybrid.systems import Array


def anitescu_potra_matrix(problem: ContactProblem) -> Array:
    """W of (31) for z = [lambda_n (m); lambda_D (m k); gamma (m)].

    The right side is [J_n v; J_D v; 0]. As W of (75b) prints it, M^-1 lacks the transpose of the
    Jacobian to its right; (75c) has it.
    """
    m, k = problem.count, problem.directions
    E = np.kron(np.eye(m), np.ones((k, 1)))  # (m k, m), blkdiag(1, ..., 1)
    J = problem.J_bar
    W = np.zeros((m * (2 + k), m * (2 + k)))
    W[: m * (1 + k), : m * (1 + k)] = J @ problem.velocity_by_impulse
    W[m : m * (1 + k), m * (1 + k) :] = E
    W[m * (1 + k) :, :m] = np.diag(problem.mu)
    W[m * (1 + k) :, m : m * (1 + k)] = -E.T
    return W


def step_matrix(problem: ContactProblem) -> Array:
    """W_q (75b) for z = [beta (m); lambda_n (m); lambda_D (m k); gamma (m)].

    The right side is [lambda_n_max; J_n v; J_D v; 0], (75a). beta takes a normal impulse that has
    reached its bound off the constraint that its contact may not close, (73)-(74).
    """
    m = problem.count
    inner = anitescu_potra_matrix(problem)
    W = np.zeros((m + len(inner), m + len(inner)))
    W[m:, m:] = inner
    W[:m, m : 2 * m] = -np.eye(m)
    W[m : 2 * m, :m] = np.eye(m)
    return W
