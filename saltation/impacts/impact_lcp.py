"""Impacts as linear complementarity problems: Anitescu and Potra (31)-(33), and the step (75)."""

# ruff: noqa: N803, N806 (the letters are the paper's)

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from saltation.impacts.contact_problem import ContactProblem
from saltation.systems import Array


def anitescu_potra_matrix(problem: ContactProblem) -> Array:
    """W of (31) for z = [lambda_n (m); lambda_D (m k); gamma (m)].

    The right side is [J_n v; J_D v; 0]. The print of (75b) has an error: docs/errata.md.
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

    The right side is [lambda_n_max; J_n v; J_D v; 0], (75a). beta > 0 releases the constraint that
    a contact may not close once its normal impulse has reached its bound, (73)-(74).
    """
    m = problem.count
    inner = anitescu_potra_matrix(problem)
    W = np.zeros((m + len(inner), m + len(inner)))
    W[m:, m:] = inner
    W[:m, m : 2 * m] = -np.eye(m)
    W[m : 2 * m, :m] = np.eye(m)
    return W


class Units(NamedTuple):
    """Positive factors of an LCP's rows and unknowns: rows * W * unknowns is the same problem."""

    rows: Array  # (N,) scaled w = rows * w
    unknowns: Array  # (N,) z = unknowns * scaled z
    floor: Array  # (N,) scaled w of each row that is not small


def anitescu_potra_units(problem: ContactProblem) -> Units:
    """Units in which entries of W of (31) are about one for any inertia, length and friction.

    A contact's velocities are divided by |J_n,i| in the kinetic metric, its impulses multiplied by
    it; the row of a friction cone is divided by mu where mu > 1. Lemke's method can then use fixed
    thresholds for rounding.
    """
    m, k = problem.count, problem.directions
    length = np.sqrt(np.einsum("ij,ji->i", problem.J_n, problem.velocity_by_impulse[:, :m]))
    each = np.concatenate([length, np.repeat(length, k)])
    steep = np.maximum(1.0, problem.mu)
    return Units(
        np.concatenate([1.0 / each, length / steep]),
        np.concatenate([1.0 / each, length]),
        np.concatenate([np.ones(m * (1 + k)), 1.0 / steep]),
    )


def step_units(problem: ContactProblem) -> Units:
    """Units of W_q (75b)."""
    rows, unknowns, floor = anitescu_potra_units(problem)
    length = unknowns[-problem.count :]
    return Units(
        np.concatenate([length, rows]),
        np.concatenate([length, unknowns]),
        np.concatenate([np.ones(problem.count), floor]),
    )
