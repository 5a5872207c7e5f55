"""Bounds by contraction along one trajectory, integrated beside its neighbours.

(2.3) bounds every neighbour's distance by e^{int lambda_max dt}, (2.4) gives the volume about the
trajectory, e^{int div f dt}. Distances never shrink faster than e^{int lambda_min dt} either: the
same argument with the sign turned.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from saltation.convergent.contraction import symmetric_part
from saltation.derivatives import jacobian
from saltation.systems import Array, VectorFunction


class ContractionBounds(NamedTuple):
    """A trajectory, its fundamental matrix, and logarithms of the bounds, at N times."""

    status: Literal["ok", "integration_failed"]
    times: Array  # (N,) [s]; fewer than asked for where the integration failed
    states: Array  # (N, n)
    fundamental: Array  # (N, n, n): Phi, with dx(t) = Phi dx(0) to first order
    log_farthest: Array  # (N,) int lambda_max dt: log of the bound (2.3) on ||dx|| / ||dx_0||
    log_nearest: Array  # (N,) int lambda_min dt: log of the lower bound
    log_volume: Array  # (N,) int div f dt: log of the volume ratio (2.4) = log det Phi
    message: str = ""


def bounds_along(
    field: VectorFunction, x: Array, u: Array, times: Array, tolerance: float = 1e-9
) -> ContractionBounds:
    """Integrate f, its variational equation dPhi/dt = D_x f Phi, and the rates of (2.3) and (2.4).

    Args:
        field: f(t, x, u) -> (n,).
        x: state (n,) at the first time.
        u: input (m,), held.
        times: (N,) increasing [s].
        tolerance: of the integration, relative and absolute.
    """
    n = len(x)

    def rates(t: float, z: Array) -> Array:
        D_f = jacobian(lambda y: field(t, y, u), z[:n])
        eigenvalues = np.linalg.eigvalsh(symmetric_part(D_f))
        growth = D_f @ z[n : n + n * n].reshape(n, n)
        scalars = [eigenvalues[-1], eigenvalues[0], np.trace(D_f)]
        return np.concatenate((field(t, z[:n], u), growth.ravel(), scalars))

    start = np.concatenate((x, np.eye(n).ravel(), np.zeros(3)))
    found = solve_ivp(rates, (times[0], times[-1]), start, method="DOP853", t_eval=times,
                      rtol=tolerance, atol=tolerance)  # fmt: skip
    states, phi, scalars = found.y[:n].T, found.y[n : n + n * n].T, found.y[n + n * n :]
    status = "ok" if found.success else "integration_failed"
    return ContractionBounds(status, found.t, states, phi.reshape(-1, n, n), *scalars,
                             message="" if found.success else found.message)  # fmt: skip
