"""Kernel of Algorithm 1: steps (75) of many velocities, each one LCP."""

# ruff: noqa: N803, N806 (the letters are the paper's)

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from saltation.impacts.contact_problem import COLLIDING, ContactProblem
from saltation.impacts.impact_lcp import step_matrix, step_units
from saltation.impacts.lemke import tableau
from saltation.impacts.lemke_kernel import INACCURATE, SOLVED, lemke
from saltation.kernels import unlocked_kernel
from saltation.systems import Array

GAIN = 1e-9  # growth of K in a step over K before it; more contradicts Theorem 7: rounding


class StepTables(NamedTuple):
    """Constants of all steps of a problem's impacts."""

    M: Array  # (n, n)
    J: Array  # (m (1 + k), n), J_bar
    by_impulse: Array  # (n, m (1 + k)), M^-1 J_bar'
    table: Array  # (N, 2 N + 2) Lemke's tableau of (75b), in the units of `step_units`
    rows: Array  # (N,) those of w
    unknowns: Array  # (N,) those of z
    floor: Array  # (N,) w that is not small, in the units of ``rows``

    @staticmethod
    def of(problem: ContactProblem) -> StepTables:
        """The tables of a problem."""
        by_impulse = np.ascontiguousarray(problem.velocity_by_impulse)
        units = step_units(problem)
        table = tableau(units.rows[:, None] * step_matrix(problem) * units.unknowns)
        return StepTables(problem.M, problem.J_bar, by_impulse, table, *units)

    @property
    def size(self) -> int:
        """Number of unknowns of the LCP."""
        return len(self.table)


@unlocked_kernel
def energy(M, v):
    """K = v' M v / 2 (11)."""
    total = 0.0
    for i in range(len(v)):
        row = 0.0
        for j in range(len(v)):
            row += M[i, j] * v[j]
        total += v[i] * row
    return 0.5 * total


@unlocked_kernel
def is_colliding(J, m, v):
    """Whether one of the first m rows of J closes at v, (28)."""
    for i in range(m):
        rate = 0.0
        for j in range(len(v)):
            rate += J[i, j] * v[j]
        if rate < -COLLIDING:
            return True
    return False


@unlocked_kernel
def right_side(s, limits, v, q):
    """Fill q (N,) with w_q(v, lambda_n_max) of (75a), over its largest velocity, which it returns.

    Both are in the units of ``s.rows``; ``limits`` (m,) is lambda_n_max [N s].
    """
    m, size = len(limits), 0.0
    for i in range(len(s.J)):
        rate = 0.0
        for j in range(len(v)):
            rate += s.J[i, j] * v[j]
        q[m + i] = s.rows[m + i] * rate
        size = max(size, abs(q[m + i]))
    for i in range(len(s.J)):
        q[m + i] /= size
    for i in range(m):
        q[i] = s.rows[i] * limits[i] / size
    return size


@unlocked_kernel
def advance(s, m, z, size, v, after):
    """Fill ``after`` (n,) with v' of (75c), z (N,) being over ``size`` and in its units."""
    for j in range(len(v)):
        after[j] = v[j]
        for i in range(len(s.J)):
            after[j] += s.by_impulse[j, i] * size * s.unknowns[m + i] * z[m + i]


@unlocked_kernel
def step_all(s, rows, limits, cover, velocities, count, growth, endings, alive):
    """One step (75) of the velocities of ``rows`` (R,), in place.

    Args:
        s: StepTables.
        rows: of the velocities that are stepped; each has a contact that closes.
        limits: (R, m) lambda_n_max [N s].
        cover: (R, N) covering vectors of Lemke's method, in the units of ``s.rows``.
        velocities: (S, n).
        count: (S,) LCPs of each sample.
        growth: (S,) largest growth of K in a step [J].
        ended: (5,) LCPs by how they ended, and last those with ties (degenerate ones).
        alive: (R,) set to whether a contact still closes.
    """
    N, m = len(s.table), limits.shape[1]
    T, basis = np.empty_like(s.table), np.empty(N, np.int64)
    q, z, after = np.zeros(N), np.zeros(N), np.empty(velocities.shape[1])
    for r in range(len(rows)):
        v = velocities[rows[r]]
        size = right_side(s, limits[r], v, q)
        status, _, ties = lemke(s.table, q, cover[r], s.floor, 50 * N, T, basis, z)
        advance(s, m, z, size, v, after)
        before = energy(s.M, v)
        increase = energy(s.M, after) - before
        if status == SOLVED and not increase <= GAIN * before:
            status = INACCURATE
        if status == SOLVED:
            growth[rows[r]] = max(growth[rows[r]], increase)
            for j in range(len(v)):
                v[j] = after[j]
        count[rows[r]] += 1
        endings[status] += 1
        endings[-1] += ties > 0
        alive[r] = is_colliding(s.J, m, v)
