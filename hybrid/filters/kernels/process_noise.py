"""Kernels of process noise: W(h) of a flow, by Van Loan's integral where the noise is white.

Van Loan, Computing integrals involving the matrix exponential, IEEE Trans. Automatic Control 23,
1978. For flows that are not linear W follows its differential equation along the trajectory.
"""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import overload

from hybrid.compiled.calls import STATE, flow, flow_derivative, put, rate
from hybrid.compiled.piece import integrate_for, jacobians
from hybrid.compiled.tables import ABSENT
from hybrid.filters.kernels.functions import basis, part, tangent_map
from hybrid.filters.kernels.matrices import add, sandwich
from hybrid.filters.tables import BASIS, KernelTables, KernelType

EACH_TIMESTEP, WHITE, HELD = 0.0, 1.0, 2.0  # values of ``Noise.power``


@njit(cache=True, error_model="numpy")
def flow_covariance(f: KernelTables, g, u, h, x, noisy):
    """A Sigma A' + W(h) of a flow over h [s] from a Gaussian to the state x (n,), (4.8).

    Without ``noisy`` W is left out. Noise of power 0 is added at the end of a timestep.
    """
    power = f.noise.power[g.mode]
    if noisy and power == WHITE:
        A, W = van_loan(f, g.mode, g.t, g.x, u, h)
    else:
        A, W = jacobians(f.derivatives, g.mode, g.t, g.x, u, h, f.limits)[0], f.noise.Q[g.mode]
    Sigma = sandwich(tangent_map(f, A, g.mode, g.x, g.mode, x), g.Sigma)
    if noisy and power == WHITE:
        add(Sigma, W if f.slots[BASIS, g.mode] == ABSENT else sandwich(part(f, g.mode, x), W), 1.0)
    elif noisy and power == HELD:
        add(Sigma, W, h * h)
    return Sigma


@njit(cache=True, error_model="numpy")
def add_timestep_noise(f: KernelTables, mode, Sigma, h):
    """Add the noise of power 0 at the end of a timestep of h [s]."""
    if f.noise.power[mode] == EACH_TIMESTEP and h > 0.0:
        add(Sigma, f.noise.Q[mode], 1.0)


@njit(cache=True, error_model="numpy")
def add_noise_without_flow(f: KernelTables, mode, Sigma, h):
    """Add h^power Q for h [s] in which a mean could not be followed."""
    if h > 0.0:
        add(Sigma, f.noise.Q[mode], h ** f.noise.power[mode])


@njit(cache=True, error_model="numpy")
def van_loan(f: KernelTables, mode, t, x, u, h):
    """A (n, n) of a flow over h [s] and W(h) = int_0^h A(h, s) Q A(h, s)' ds (n, n)."""
    n, scale = len(x), np.max(np.abs(f.noise.Q[mode]))
    y = np.zeros(n + 2 * n * n)
    put(y, x)
    for i in range(n):
        y[n + i * n + i] = 1.0
    end = integrate_for(f, mode, t, y, u, h, f.limits)
    A, W = end[n : n + n * n].copy().reshape((n, n)), end[n + n * n :].copy().reshape((n, n))
    return A, scale * 0.5 * (W + W.T)


@njit(cache=True, error_model="numpy")
def van_loan_rate(f: KernelTables, mode, t, y, u):
    """x' = F, A' = D_x F A and W' = D_x F W + W D_x F' + Q / max |Q|, in one vector."""
    n = f.system.dims[mode]
    x, slope = y[:n].copy(), np.zeros(len(y))
    put(slope, flow(f.system, mode, t, x, u))
    D_xF = flow_derivative(f.derivatives, STATE, mode, t, x, u)
    Q = _spectral_density(f, mode, x)
    for i in range(n):
        for j in range(n):
            to_A, to_W = 0.0, Q[i, j]
            for k in range(n):
                to_A += D_xF[i, k] * y[n + k * n + j]
                to_W += D_xF[i, k] * y[n + n * n + k * n + j]
                to_W += D_xF[j, k] * y[n + n * n + i * n + k]
            slope[n + i * n + j] = to_A
            slope[n + n * n + i * n + j] = to_W
    return slope


@njit(cache=True, error_model="numpy")
def _spectral_density(f: KernelTables, mode, x):
    """Q / max |Q| (n, n) in the state's own coordinates."""
    scale, k = np.max(np.abs(f.noise.Q[mode])), f.tangent[mode]
    Q = f.noise.Q[mode, :k, :k] / (scale if scale > 0.0 else 1.0)
    return Q if f.slots[BASIS, mode] == ABSENT else sandwich(basis(f, mode, x), Q)


@overload(rate, inline="always")
def _rate(s, mode, t, y, u):
    """What the shared integrator calls of a filter's tables."""
    if isinstance(s, KernelType):
        return lambda s, mode, t, y, u: van_loan_rate(s, mode, t, y, u)
    return None
