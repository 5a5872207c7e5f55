"""Convergence of the neighbours of a trajectory: the divergence metrics D_m and D_a.

The difference dx of two neighbouring trajectories of dx/dt = f(t, x, u) obeys

    d/dt (dx^T dx) = 2 dx^T F dx <= 2 lambda_max dx^T dx,                                    (2.2)

with F the symmetric part of the Jacobian of f, (2.1); a volume about the trajectory grows with the
rate div f = trace F. In the plane ``planar_contraction`` has all this in closed form. The print has
an error: docs/errata.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from saltation.derivatives import jacobian
from saltation.systems import Array, VectorFunction


class DivergenceMetrics(NamedTuple):
    """Average and largest eigenvalue of F [1/s]; neighbours converge on average, or all of them."""

    average: Any  # D_a = lambda_avg = div f / n
    maximum: Any  # D_m = lambda_max


def symmetric_part(jacobian_x: Array) -> Array:
    """F = (D_x f + D_x f^T) / 2, (2.1), of one Jacobian (n, n) [1/s] or a stack (..., n, n)."""
    return 0.5 * (jacobian_x + np.swapaxes(jacobian_x, -1, -2))


def symmetric_jacobian(field: VectorFunction, t: float, x: Array, u: Array) -> Array:
    """F (n, n) [1/s] of a vector field f(t, x, u), (2.1), where no Jacobian of it is at hand.

    Accurate to rounding where f takes complex numbers, else to about 1e-10 of its scale.
    """
    return symmetric_part(jacobian(lambda y: field(t, y, u), x))


def metrics_of(F: Array) -> DivergenceMetrics:
    """D_a and D_m [1/s] of symmetric F (n, n), or one each of a stack (..., n, n)."""
    average = np.trace(F, axis1=-2, axis2=-1) / F.shape[-1]
    return DivergenceMetrics(average, np.linalg.eigvalsh(F)[..., -1])
