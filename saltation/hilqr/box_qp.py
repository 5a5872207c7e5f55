"""Quadratic programs in a box, by projected Newton steps; compiled.

    minimise 1/2 x' H x + g' x  over  low <= x <= high                                  (BOX)

(Bertsekas, SIAM J. Control 20, 1982; Tassa, Mansard and Todorov, ICRA 2014, section III.) An entry
is clamped where it is at a bound and the gradient pushes it qp. A Newton step in the other
entries is projected onto the box and shortened until it descends. Where a whole step meets no
bound and leaves the clamped set as it is, it has reached the minimum: no tolerance is needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from saltation.arrays import Flags
from saltation.cholesky import factorise, solve_lower, solve_lower_transposed
from saltation.kernels import kernel
from saltation.systems import Array

# ruff: noqa: N803, N806 (the letters are the papers')

SUFFICIENT = 0.1  # share of the descent by the slope that a step must bring
LEAST_STEP = 1e-12  # shorter ones descend by rounding only
MOST_STEPS = 100  # a few are enough; x is in the box after any number


class BoxQp(NamedTuple):
    """Program, its solution, and the arrays to work in."""

    g: Array  # (m,)
    x: Array  # (m,)
    clamped: Flags  # (m,)
    L: Array  # (m, m) factor of H, with the unit matrix's rows and columns where x is clamped
    M: Array  # (m, m) what L is the factor of
    gradient: Array  # (m,)
    step: Array  # (m, 1)
    trial: Array  # (m,)


@kernel
def make_box_qp(m):
    """Arrays for m entries."""
    return BoxQp(
        np.zeros(m), np.zeros(m), np.zeros(m, np.bool_), np.zeros((m, m)), np.zeros((m, m)),
        np.zeros(m), np.zeros((m, 1)), np.zeros(m),
    )  # fmt: skip


@kernel
def solve_box_qp(H, low, high, qp: BoxQp):
    """Solve (BOX) with qp.g, from the point of the box that is next to zero.

    Returns:
        False where H is not positive definite in the entries that are free on the way, or where
        something is not finite.
    """
    g, x = qp.g, qp.x
    for i in range(len(x)):
        if not np.isfinite(g[i]):
            return False
        x[i] = min(max(0.0, low[i]), high[i])
    settled = False
    for attempt in range(MOST_STEPS):
        same = _clamp(H, low, high, qp)
        if attempt == 0 or not same:
            _mask(H, qp)
            if not factorise(qp.M, qp.L):
                return False
        elif settled:
            break
        settled = _advance(H, low, high, qp)
    return True


@kernel
def _clamp(H, low, high, qp: BoxQp):
    """Gradient and clamped set at x; whether the set is the same as before."""
    x, clamped, gradient, same = qp.x, qp.clamped, qp.gradient, True
    for i in range(len(x)):
        slope = qp.g[i]
        for j in range(len(x)):
            slope += H[i, j] * x[j]
        gradient[i] = slope
        held = low[i] == high[i] or (x[i] == low[i] and slope > 0.0)
        held = held or (x[i] == high[i] and slope < 0.0)
        same = same and held == clamped[i]
        clamped[i] = held
    return same


@kernel
def _mask(H, qp: BoxQp):
    """M <- H, with rows and columns of the unit matrix where x is clamped."""
    for i in range(len(H)):
        for j in range(len(H)):
            either = qp.clamped[i] or qp.clamped[j]
            qp.M[i, j] = (1.0 if i == j else 0.0) if either else H[i, j]


@kernel
def _advance(H, low, high, qp: BoxQp):
    """Step x; whether the whole step stayed in the box, or none descends."""
    x, gradient, step, trial = qp.x, qp.gradient, qp.step, qp.trial
    for i in range(len(x)):
        step[i, 0] = 0.0 if qp.clamped[i] else -gradient[i]
    solve_lower(qp.L, step)
    solve_lower_transposed(qp.L, step)
    size = 1.0
    while size >= LEAST_STEP:
        inside, slope, curvature = size == 1.0, 0.0, 0.0
        for i in range(len(x)):
            aim = x[i] + size * step[i, 0]
            trial[i] = min(max(aim, low[i]), high[i])
            inside = inside and trial[i] == aim
        for i in range(len(x)):
            bend = 0.0
            for j in range(len(x)):
                bend += H[i, j] * (trial[j] - x[j])
            slope += gradient[i] * (trial[i] - x[i])
            curvature += bend * (trial[i] - x[i])
        if slope + 0.5 * curvature <= SUFFICIENT * slope:
            x[:] = trial
            return inside or slope == 0.0
        size *= 0.5
    return True
