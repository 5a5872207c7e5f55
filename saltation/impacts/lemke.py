"""Lemke's method for linear complementarity problems (6)-(8), without cycling.

    find z >= 0 with w = W z + q >= 0 and z' w = 0

Source: Cottle, Pang and Stone, "The Linear Complementarity Problem" (2009), chapter 4: Algorithm
4.4.5 with the lexicographic ratio test of 4.9, which does not cycle at ties. Friction has many.
"""

# ruff: noqa: N803, N806 (the letters are the paper's)

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from saltation.impacts.lemke_kernel import STATUSES, lemke
from saltation.systems import Array


class LcpSolution(NamedTuple):
    """Result of a linear complementarity problem.

    Status "ray": the method ended on a ray; for copositive W there is then no solution.
    "pivot_limit": too many pivots, for instance because of rounding. With both, z is zero.
    "inaccurate": the method ended, but because of rounding z is no solution.
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
    W: Array, q: Array, covering: Array | None = None, max_pivots: int | None = None,
    floor: Array | None = None,
) -> LcpSolution:  # fmt: skip
    """Solve one problem.

    Args:
        W: (n, n).
        q: (n,).
        covering: positive covering vector d (n,); None for ones. If there are several solutions,
            it selects one.
        max_pivots: None for 50 n.
        floor: (n,) w of each row that is not small, over the largest of |q|, for the check of the
            solution; None for ones.

    Raises:
        ValueError: shapes that do not fit, numbers that are not finite, or a covering vector or
            floor that is not positive.
    """
    W, q = np.asarray(W, float), np.asarray(q, float)
    n = len(q)
    d = np.ones(n) if covering is None else np.asarray(covering, float)
    floor = np.ones(n) if floor is None else np.asarray(floor, float)
    if W.shape != (n, n) or d.shape != (n,) or floor.shape != (n,):
        raise ValueError(
            f"W {W.shape}, q ({n},), covering {d.shape} and floor {floor.shape} do not fit together"
        )
    finite = all(np.isfinite(each).all() for each in (W, q, d, floor))
    if not (finite and (d > 0.0).all() and (floor > 0.0).all()):
        raise ValueError("W and q must be finite, covering vector and floor finite and positive")
    table, basis, z = tableau(W), np.empty(n, np.int64), np.zeros(n)
    work, size = np.empty_like(table), float(np.abs(q).max(initial=0.0)) or 1.0
    limit = 50 * n if max_pivots is None else max_pivots
    status, pivots, ties = lemke(table, q / size, d, floor, limit, work, basis, z)
    z *= size
    return LcpSolution(z, W @ z + q, STATUSES[status], pivots, ties)


def tableau(W: Array) -> Array:
    """Tableau (n, 2n + 2) of w - W z - d z0 = q: columns of w, z, z0 and the right side."""
    n = len(W)
    return np.hstack([np.eye(n), -np.asarray(W, float), np.zeros((n, 2))])
