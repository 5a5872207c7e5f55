"""A semi-implicit Euler step of a floating-base robot and its derivatives, compiled."""

import numpy as np
from numba import njit

from robots.rotations import Array, exp3, right_jacobian, skew
from robots.state import integrate


@njit(cache=True)
def semi_implicit_step(q: Array, v: Array, a: Array, dt: float) -> tuple[Array, Array]:
    """Return v+ = v + a dt and q+ = q (+) v+ dt as (q+, v+)."""
    nv = v.shape[0]
    dx = np.empty(2 * nv)
    dx[nv:] = dt * a
    dx[:nv] = dt * (v + dx[nv:])
    return integrate(q, v, dx)


@njit(cache=True)
def assemble_step(
    v: Array, a: Array, a_q: Array, a_v: Array, a_tau: Array, dt: float, A: Array, B: Array
) -> None:
    """Write A (2 nv, 2 nv), B (2 nv, nv - 6) from the derivatives of the acceleration."""
    nv = v.shape[0]
    A[nv:, :nv] = dt * a_q
    A[nv:, nv:] = dt * a_v
    B[nv:] = dt * a_tau[:, 6:]
    for i in range(nv):
        A[nv + i, nv + i] += 1.0  # the velocity half: dv+ = dv + dt da
    B[6:nv] = dt * B[nv + 6 :]
    linear, angular = fill_positions(v + dt * a, dt, A)
    _multiply_rows(linear, B[nv : nv + 3], B[:3])
    _multiply_rows(angular, B[nv + 3 : nv + 6], B[3:6])


@njit(cache=True)
def fill_positions(v_next: Array, dt: float, A: Array) -> tuple[Array, Array]:
    """Write the position half of A (2 nv, 2 nv) of a step to v+ (nv); its velocity half is there.

    With E = exp3(w+ dt): p+ = p + R v+ dt and R+ = R E give, in the tangent at x+,
    dp+ = E' (dp - dt [v+]x dphi + dt dv+) and dphi+ = E' dphi + dt Jr(w+ dt) dw+.

    Return what dv+ and dw+ of the base move dp+ and dphi+ by (3, 3) [s].
    """
    nv = v_next.shape[0]
    A[6:nv] = dt * A[nv + 6 :]
    for i in range(6, nv):
        A[i, i] += 1.0
    rotation = exp3(dt * v_next[3:6]).T.copy()
    linear = dt * rotation
    angular = dt * right_jacobian(dt * v_next[3:6])
    _multiply_rows(linear, A[nv : nv + 3], A[:3])
    _multiply_rows(angular, A[nv + 3 : nv + 6], A[3:6])
    A[:3, :3] += rotation
    A[:3, 3:6] -= linear @ skew(v_next[:3])
    A[3:6, 3:6] += rotation
    return linear, angular


@njit(cache=True)
def _multiply_rows(matrix: Array, rows: Array, out: Array) -> None:
    """Write matrix (3, 3) @ rows (3, n) to `out`; a plain loop beats BLAS at this size."""
    for i in range(3):
        for j in range(rows.shape[1]):
            out[i, j] = (
                matrix[i, 0] * rows[0, j] + matrix[i, 1] * rows[1, j] + matrix[i, 2] * rows[2, j]
            )
