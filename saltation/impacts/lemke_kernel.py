"""Kernel of Lemke's method: pivots on a tableau, by the lexicographic ratio test."""

# ruff: noqa: N803 (the letters are the paper's)

from __future__ import annotations

from saltation.kernels import unlocked_kernel

SOLVED, RAY, PIVOT_LIMIT, INACCURATE = 0, 1, 2, 3
STATUSES = ("solved", "ray", "pivot_limit", "inaccurate")
TINY = 1e-10  # entries of a pivot column below this are rounding
TIE = 1e-10  # ratios that differ by less are equal, relative to their size or one
RESIDUAL = 1e-7  # that a solution may leave in a row, over the row's terms and floor


@unlocked_kernel
def lemke(table, q, d, floor, max_pivots, T, basis, z):
    """Solve with W in ``table``: z (n,) is filled; returns (status, pivots, ties).

    Thresholds for rounding are fixed: W and q must be scaled so that their larger entries are about
    one. ``floor`` (n,) is the w of each row that is not small, for the check of the solution.
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
    row, tie = leaving(T, z0, -1.0, -1)
    entering, ties = z0, tie
    for pivots in range(1, max_pivots + 1):
        left = basis[row]
        pivot(T, row, entering)
        basis[row] = entering
        if left == z0:
            for i in range(n):
                if n <= basis[i] < z0:
                    z[basis[i] - n] = max(T[i, last], 0.0)
            return SOLVED if solves(table, q, floor, z) else INACCURATE, pivots, ties
        entering = left + n if left < n else left - n
        row, tie = leaving(T, entering, 1.0, position(basis, z0))
        ties += tie
        if row < 0:
            return RAY, pivots, ties
    return PIVOT_LIMIT, max_pivots, ties


@unlocked_kernel
def solves(table, q, floor, z):
    """Whether z solves the problem with W in ``table``, to rounding."""
    n = len(q)
    for i in range(n):
        w, size = q[i], floor[i] + abs(q[i])
        for j in range(n):
            term = table[i, n + j] * z[j]
            w -= term
            size += abs(term)
        if w < -RESIDUAL * size or (z[i] > 0.0 and w > RESIDUAL * size):
            return False
    return True


@unlocked_kernel
def position(basis, variable):
    """Row of a basic variable."""
    for i in range(len(basis)):
        if basis[i] == variable:
            return i
    return -1


@unlocked_kernel
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


@unlocked_kernel
def before(T, i, k, column):
    """Whether row i over its pivot entry comes before row k over its own, lexicographically."""
    for j in range(len(T)):
        a, b = T[i, j] / abs(T[i, column]), T[k, j] / abs(T[k, column])
        if abs(a - b) > TIE * max(1.0, abs(a), abs(b)):
            return a < b
    return False


@unlocked_kernel
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
