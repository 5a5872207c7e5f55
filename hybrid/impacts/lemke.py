"""Lemke's method for linear complementarity problems (6)-(8), made safe against cycling.

    find z >= 0 with w = W z + q >= 0 and z' w = 0

Own, because no kept library has one that is compiled and says how it ended. Cottle, Pang and
Stone, "The Linear Complementarity Problem" (2009), chapter 4: Algorithm 4.4.5 with the
lexicographic ratio test of 4.9, so that ties, of which friction has many, cannot make it cycle.
"""

# ruff: noqa: N803, N806 (the letters are the paper's)

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from hybrid.systems import Array

SOLVED, RAY, PIVOT_LIMIT, INACCURATE = 0, 1, 2, 3
STATUSES = ("solved", "ray", "pivot_limit", "inaccurate")
TINY = 1e-11  # entries of a pivot column below this are rounding
TIE = 1e-12  # ratios that differ by less are equal, relative to their size
RESIDUAL = 1e-7  # that a solution may leave in a row, over the row's terms or the largest of q


class LcpSolution(NamedTuple):
    """How a linear complementarity problem ended.

    Status "ray": the method left along a ray, which for copositive W means that there is no
    solution, and else means nothing; "pivot_limit": it took too long, as rounding may make it.
    With both, z is zero. "inaccurate": it ended, and rounding on its way made z no solution.
    """

    z: Array  # (n,)
    w: Array  # (n,) W z + q
    status: str  # "solved", "ray", "pivot_limit" or "inaccurate"
    pivots: int
    ties: int  # ratio tests whose least ratio was not unique: degenerate vertices

    @property
    def ok(self) -> bool:
        """Whether z is a solution."""
        return self.status == "solved"


def solve_lcp(
    W: Array, q: Array, covering: Array | None = None, max_pivots: int | None = None
) -> LcpSolution:
    """Solve one problem.

    Args:
        W: (n, n).
        q: (n,).
        covering: positive vector d (n,) along which the method comes in; None for ones. Where
            there are many solutions it decides which one is found.
        max_pivots: None for 50 n.

    Raises:
        ValueError: shapes that do not fit, numbers that are not finite, or a covering vector that
            is not positive.
    """
    W, q = np.asarray(W, dtype=np.float64), np.asarray(q, dtype=np.float64)
    n = len(q)
    d = np.ones(n) if covering is None else np.asarray(covering, dtype=np.float64)
    if W.shape != (n, n) or d.shape != (n,):
        raise ValueError(f"W {W.shape}, q ({n},) and covering {d.shape} do not fit together")
    if not (np.isfinite(W).all() and np.isfinite(q).all() and (d > 0.0).all()):
        raise ValueError("W and q must be finite, and the covering vector positive")
    table, basis, z = tableau(W), np.empty(n, dtype=np.int64), np.zeros(n)
    work = np.empty_like(table)
    limit = 50 * n if max_pivots is None else max_pivots
    status, pivots, ties = lemke(table, q, d, limit, work, basis, z)
    return LcpSolution(z, W @ z + q, STATUSES[status], pivots, ties)


def tableau(W: Array) -> Array:
    """Tableau (n, 2n + 2) of w - W z - d z0 = q: columns of w, z, z0 and the right side."""
    n = len(W)
    return np.hstack([np.eye(n), -np.asarray(W, dtype=np.float64), np.zeros((n, 2))])


@njit(cache=True, error_model="numpy", nogil=True)
def lemke(table, q, d, max_pivots, T, basis, z):
    """Solve with W in ``table``: z (n,) is filled; returns (status, pivots, ties).

    T (n, 2n + 2) and basis (n,) are working memory.
    """
    n = len(q)
    z0, last = 2 * n, 2 * n + 1
    lowest = 0.0
    for i in range(n):
        z[i] = 0.0
        basis[i] = i
        lowest = min(lowest, q[i])
        for j in range(z0):
            T[i, j] = table[i, j]
        T[i, z0], T[i, last] = -d[i], q[i]
    if lowest >= 0.0:
        return SOLVED, 0, 0
    row, tied = leaving(T, z0, -1.0, -1)
    entering, ties = z0, tied
    for pivots in range(1, max_pivots + 1):
        left = basis[row]
        pivot(T, row, entering)
        basis[row] = entering
        if left == z0:
            for i in range(n):
                if n <= basis[i] < z0:
                    z[basis[i] - n] = max(T[i, last], 0.0)
            return SOLVED if solves(table, q, z) else INACCURATE, pivots, ties
        entering = left + n if left < n else left - n
        row, tied = leaving(T, entering, 1.0, position(basis, z0))
        ties += tied
        if row < 0:
            return RAY, pivots, ties
    return PIVOT_LIMIT, max_pivots, ties


@njit(cache=True, error_model="numpy", nogil=True)
def solves(table, q, z):
    """Whether z solves the problem with W in ``table``, to rounding."""
    n, largest = len(q), 0.0
    for i in range(n):
        largest = max(largest, abs(q[i]))
    for i in range(n):
        w, size = q[i], largest
        for j in range(n):
            term = table[i, n + j] * z[j]
            w -= term
            size += abs(term)
        if w < -RESIDUAL * size or (z[i] > 0.0 and w > RESIDUAL * size):
            return False
    return True


@njit(cache=True, error_model="numpy", nogil=True)
def position(basis, variable):
    """Row of a basic variable."""
    for i in range(len(basis)):
        if basis[i] == variable:
            return i
    return -1


@njit(cache=True, error_model="numpy", nogil=True)
def leaving(T, column, sign, preferred):
    """Row with the lexicographically least ratio, and 1 where the ratio alone had ties, else 0.

    Rows whose entry times ``sign`` is positive take part; -1 where there is none. With sign -1,
    before the first pivot, the ratios are those of -q to d and the largest one leaves: the same
    comparison, as both signs turn. A row ``preferred`` wins where its ratio is the least.
    """
    n, last, best, ties = len(T), T.shape[1] - 1, -1, 0
    for i in range(n):
        if sign * T[i, column] <= TINY:
            continue
        if best < 0:
            best = i
            continue
        ratio, least = T[i, last] / T[i, column], T[best, last] / T[best, column]
        room = TIE * max(1.0, abs(least))
        if sign < 0.0:
            ratio, least = -ratio, -least
        if ratio < least - room:
            best, ties = i, 0
        elif ratio <= least + room:
            ties = 1
            if i == preferred or (best != preferred and before(T, i, best, column)):
                best = i
    return best, ties


@njit(cache=True, error_model="numpy", nogil=True)
def before(T, i, k, column):
    """Whether row i over its pivot entry comes before row k over its own, lexicographically."""
    for j in range(len(T)):
        a, b = T[i, j] / abs(T[i, column]), T[k, j] / abs(T[k, column])
        if abs(a - b) > TIE * max(1.0, abs(a), abs(b)):
            return a < b
    return False


@njit(cache=True, error_model="numpy", nogil=True)
def pivot(T, row, column):
    """Make ``column`` the unit vector of ``row``."""
    scale = 1.0 / T[row, column]
    for j in range(T.shape[1]):
        T[row, j] *= scale
    T[row, column] = 1.0
    for i in range(len(T)):
        factor = T[i, column]
        if i != row and factor != 0.0:
            for j in range(T.shape[1]):
                T[i, j] -= factor * T[row, j]
            T[i, column] = 0.0
