"""From the derivatives of the acceleration to those of the discrete step."""

from __future__ import annotations

import numpy as np
from numba import njit

from robots.rotations import Array, exp3, skew


@njit(cache=True)
def exp3_right_jacobian(phi: Array) -> Array:
    """Return Jr(phi) (3, 3): exp3(phi + d) = exp3(phi) exp3(Jr d) + O(d^2)."""
    angle2 = phi[0] ** 2 + phi[1] ** 2 + phi[2] ** 2
    if angle2 < 1e-6:
        b, c = 0.5 - angle2 / 24.0, 1.0 / 6.0 - angle2 / 120.0
    else:
        angle = np.sqrt(angle2)
        b, c = (1.0 - np.cos(angle)) / angle2, (angle - np.sin(angle)) / (angle2 * angle)
    cross = skew(phi)
    return np.eye(3) - b * cross + c * (cross @ cross)


@njit(cache=True)
def assemble_step(
    v: Array, a: Array, a_q: Array, a_v: Array, a_tau: Array, dt: float, A: Array, B: Array
) -> None:
    """Write A (2 nv, 2 nv), B (2 nv, nv - 6) from the derivatives of the acceleration.

    With E = exp3(w+ dt): p+ = p + R v+ dt and R+ = R E give, in the tangent at x+,
    dp+ = E' (dp - dt [v+]x dphi + dt dv+) and dphi+ = E' dphi + dt Jr(w+ dt) dw+.
    """
    v_next = v + dt * a
    nv = v.shape[0]
    A[nv:, :nv] = dt * a_q
    A[nv:, nv:] = dt * a_v
    B[nv:] = dt * a_tau
    for i in range(nv):
        A[nv + i, nv + i] += 1.0  # the velocity half: dv+ = dv + dt da
    A[6:nv] = dt * A[nv + 6 :]
    B[6:nv] = dt * B[nv + 6 :]
    for i in range(6, nv):
        A[i, i] += 1.0
    rotation = exp3(dt * v_next[3:6]).T.copy()
    linear = dt * rotation
    angular = dt * exp3_right_jacobian(dt * v_next[3:6])
    _multiply_rows(linear, A[nv : nv + 3], A[:3])
    _multiply_rows(angular, A[nv + 3 : nv + 6], A[3:6])
    _multiply_rows(linear, B[nv : nv + 3], B[:3])
    _multiply_rows(angular, B[nv + 3 : nv + 6], B[3:6])
    A[:3, :3] += rotation
    A[:3, 3:6] -= linear @ skew(v_next[:3])
    A[3:6, 3:6] += rotation


@njit(cache=True)
def _multiply_rows(matrix: Array, rows: Array, out: Array) -> None:
    """Write matrix (3, 3) @ rows (3, n) to `out`; a plain loop beats BLAS at this size."""
    for i in range(3):
        for j in range(rows.shape[1]):
            out[i, j] = (
                matrix[i, 0] * rows[0, j] + matrix[i, 1] * rows[1, j] + matrix[i, 2] * rows[2, j]
            )
