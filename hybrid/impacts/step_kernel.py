"""Kernel of Algorithm 1: steps (75) of many velocities, each one LCP."""

# ruff: noqa: N803, N806 (the letters are the paper's)

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from hybrid.impacts.contact_problem import COLLIDING, ContactProblem
from hybrid.impacts.impact_lcp import step_matrix
from hybrid.impacts.lemke import SOLVED, lemke, tableau
from hybrid.systems import Array


class StepTables(NamedTuple):
    """What every step of a problem's impacts shares."""

    M: Array  # (n, n)
    J: Array  # (m (1 + k), n), J_bar
    by_impulse: Array  # (n, m (1 + k)), M^-1 J_bar'
    table: Array  # (N, 2 N + 2) Lemke's tableau of (75b)

    @staticmethod
    def of(problem: ContactProblem) -> StepTables:
        """The tables of a problem."""
        by_impulse = np.ascontiguousarray(problem.velocity_by_impulse)
        return StepTables(problem.M, problem.J_bar, by_impulse, tableau(step_matrix(problem)))

    @property
    def size(self) -> int:
        """Number of unknowns of the LCP."""
        return len(self.table)


@njit(cache=True, error_model="numpy", nogil=True)
def energy(M, v):
    """K = v' M v / 2 (11)."""
    total = 0.0
    for i in range(len(v)):
        row = 0.0
        for j in range(len(v)):
            row += M[i, j] * v[j]
        total += v[i] * row
    return 0.5 * total


@njit(cache=True, error_model="numpy", nogil=True)
def colliding(J, m, v):
    """Whether one of the first m rows of J closes at v, (28)."""
    for i in range(m):
        rate = 0.0
        for j in range(len(v)):
            rate += J[i, j] * v[j]
        if rate < -COLLIDING:
            return True
    return False


@njit(cache=True, error_model="numpy", nogil=True)
def step_all(s, rows, limits, cover, velocities, count, growth, ended, alive):
    """One step (75) of the velocities of ``rows`` (R,), in place.

    Args:
        s: StepTables.
        rows: of the velocities that are stepped.
        limits: (R, m) lambda_n_max [N s].
        cover: (R, N) covering vectors of Lemke's method.
        velocities: (S, n).
        count: (S,) LCPs of each sample.
        growth: (S,) largest growth of K in a step [J].
        ended: (5,) LCPs by how they ended, and last those with ties (degenerate ones).
        alive: (R,) set to whether a contact still closes.
    """
    M, J, N, m = s.M, s.J, len(s.table), limits.shape[1]
    T, basis = np.empty_like(s.table), np.empty(N, dtype=np.int64)
    q, z = np.zeros(N), np.zeros(N)
    for r in range(len(rows)):
        v = velocities[rows[r]]
        for i in range(m):
            q[i] = limits[r, i]
        for i in range(len(J)):
            q[m + i] = 0.0
            for j in range(len(v)):
                q[m + i] += J[i, j] * v[j]
        status, _, ties = lemke(s.table, q, cover[r], 50 * N, T, basis, z)
        count[rows[r]] += 1
        ended[status] += 1
        ended[-1] += ties > 0
        if status == SOLVED:
            before = energy(M, v)
            for j in range(len(v)):
                for i in range(len(J)):
                    v[j] += s.by_impulse[j, i] * z[m + i]
            growth[rows[r]] = max(growth[rows[r]], energy(M, v) - before)
        alive[r] = colliding(J, m, v)
