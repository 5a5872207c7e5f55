"""How fast the neighbours of a trajectory close in on it: the divergence metrics D_m and D_a.

The difference dx of two neighbouring trajectories of dx/dt = f(t, x, u) obeys

    d/dt (dx^T dx) = 2 dx^T F dx <= 2 lambda_max dx^T dx,                                    (2.2)

with F the symmetric part of the Jacobian of f, (2.1); a volume about the trajectory grows with the
rate div f = trace F. In the plane ``planar_contraction`` has all this in closed form. The print has
an error: docs/errata.md.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from hybrid.derivatives import jacobian
from hybrid.systems import Array, VectorFunction


class DivergenceMetrics(NamedTuple):
    """Average and largest eigenvalue of F [1/s]; neighbours converge on average, or all of them."""

    average: Any  # D_a = lambda_avg = div f / n
    maximum: Any  # D_m = lambda_max


class MetricGradients(NamedTuple):
    """How D_a and D_m change with state and input.

    Where the largest eigenvalue is repeated, D_m has a kink: its gradient there is one of many
    (one of its generalised gradient, of some eigenvector), and the status says so.
    """

    status: Literal["ok", "repeated"]
    average_x: Array  # (n,)
    average_u: Array  # (m,)
    maximum_x: Array  # (n,)
    maximum_u: Array  # (m,)
    gap: float  # between the two largest eigenvalues [1/s]; infinite where n = 1


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


def metric_gradients(
    field: VectorFunction, t: float, x: Array, u: Array, tolerance: float = 1e-6
) -> MetricGradients:
    """Gradients of D_a and D_m by the state x (n,) and the input u (m,).

    D_z lambda_max = w^T (D_z F) w with the unit eigenvector w of a simple lambda_max, and
    D_z D_a = trace(D_z F) / n always. D_z F comes from differences of F.

    Args:
        field: f(t, x, u) -> (n,).
        t: time [s].
        x: state (n,).
        u: input (m,).
        tolerance: the largest eigenvalue counts as repeated where the next one is nearer than
            this part of the spectral norm of F.
    """
    n = len(x)
    F = symmetric_jacobian(field, t, x, u)
    D_F = jacobian(
        lambda z: symmetric_jacobian(field, t, z[:n], z[n:]).ravel(), np.concatenate((x, u))
    ).reshape(n, n, -1)
    values, vectors = np.linalg.eigh(F)
    w = vectors[:, -1]
    average = np.trace(D_F) / n
    maximum = np.einsum("i,ijk,j->k", w, D_F, w)
    gap = values[-1] - values[-2] if n > 1 else np.inf
    simple = gap > tolerance * np.max(np.abs(values))
    return MetricGradients("ok" if simple else "repeated", average[:n], average[n:], maximum[:n],
                           maximum[n:], float(gap))  # fmt: skip
