"""Kernels of process noise: W(h) of a flow, by Van Loan's integral where the noise is white.

Van Loan, Computing integrals involving the matrix exponential, IEEE Trans. Automatic Control 23,
1978. For flows that are not linear W follows its differential equation along the trajectory.
"""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

import numpy as np
from numba.extending import overload

from saltation.compiled.calls import (
    RATES,
    SLOPES,
    STATE,
    flow,
    flow_derivative,
    has_solution,
    put,
    rate,
    solution_slopes,
)
from saltation.compiled.piece import integrate_for
from saltation.compiled.tables import ABSENT
from saltation.filters.kernels.functions import basis, on_manifold, part, tangent_map
from saltation.filters.kernels.matrices import add, sandwich
from saltation.filters.tables import KernelType, PythonTables
from saltation.kernels import kernel

EACH_TIMESTEP, WHITE, HELD = 0.0, 1.0, 2.0  # values of ``Noise.power``


@kernel
def flow_covariance(f, g, u, h, x, longest, noisy):
    """A Sigma A' + W(h) of a flow over h [s] from a Gaussian to the state x (n,), (4.8).

    The steps of integration are at most ``longest`` [s]. Without ``noisy`` W is left out. Noise of
    power 0 is added at the end of a timestep.
    """
    power = f.noise.power[g.mode]
    if noisy and power == WHITE:
        A, W = van_loan(f, g.mode, g.t, g.x, u, h, longest)
        W, weight = sandwich(part(f, g.mode, x), W) if on_manifold(f, g.mode) else W, 1.0
    else:
        A, W = flow_jacobian(f, g.mode, g.t, g.x, u, h, longest), f.noise.Q[g.mode]
        weight = h * h if noisy and power == HELD else 0.0
    Sigma = sandwich(tangent_map(f, A, g.mode, g.x, g.mode, x), g.Sigma)
    add(Sigma, W, weight)
    return Sigma


@kernel
def add_timestep_noise(f, mode, Sigma, h):
    """Add the noise of power 0 at the end of a timestep of h [s]."""
    if f.noise.power[mode] == EACH_TIMESTEP and h > 0.0:
        add(Sigma, f.noise.Q[mode], 1.0)


@kernel
def add_noise_without_flow(f, mode, Sigma, h):
    """Add h^power Q for h [s] in which a mean could not be followed."""
    if h > 0.0:
        add(Sigma, f.noise.Q[mode], h ** f.noise.power[mode])


@kernel
def flow_jacobian(f, mode, t, x, u, h, longest):
    """A = D_x (n, n) of the flow over h [s], by (3.1) or in closed form."""
    d, n = f.derivatives, len(x)
    if d.slots[SLOPES, mode] != ABSENT and has_solution(d.system, mode):
        return solution_slopes(d, mode, t, x, u, h)[0].copy()
    y = _integrate(d, mode, t, _state_and_identity(x, n + n * n), u, h, longest, f.limits)
    return y[n:].copy().reshape((n, n))


@kernel
def van_loan(f, mode, t, x, u, h, longest):
    """A (n, n) of a flow over h [s] and W(h) = int_0^h A(h, s) Q A(h, s)' ds (n, n)."""
    n, scale = len(x), np.max(np.abs(f.noise.Q[mode]))
    y = _state_and_identity(x, n + 2 * n * n)
    y = _integrate(f, mode, t, y, u, h, longest, f.limits)
    A, W = y[n : n + n * n].copy().reshape((n, n)), y[n + n * n :].copy().reshape((n, n))
    return A, scale * 0.5 * (W + W.T)


@kernel
def _state_and_identity(x, size):
    y, n = np.zeros(size), len(x)
    put(y, x)
    for i in range(n):
        y[n + i * n + i] = 1.0
    return y


@kernel
def _integrate(s, mode, t, y, u, h, longest, limits):
    """Integral of ``rate`` over h [s], in equal parts no longer than ``longest`` [s]."""
    count = max(1, int(np.ceil(abs(h) / longest - 1e-9)))
    for i in range(count):
        y = integrate_for(s, mode, t + i * h / count, y, u, h / count, np.inf, limits)
    return y


@overload(rate, inline="always")
def _rate(s, mode, t, y, u):
    """Rate for the shared integrator, from a filter's tables."""
    if isinstance(s, KernelType):
        return lambda s, mode, t, y, u: _van_loan_rate(s, mode, t, y, u)
    return None


@kernel
def _van_loan_rate(f, mode, t, y, u):
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


RATES[PythonTables] = _van_loan_rate


@kernel
def _spectral_density(f, mode, x):
    """Q / max |Q| (n, n) in the state's own coordinates."""
    scale, k = np.max(np.abs(f.noise.Q[mode])), f.tangent[mode]
    Q = f.noise.Q[mode, :k, :k] / (scale if scale > 0.0 else 1.0)
    return sandwich(basis(f, mode, x), Q) if on_manifold(f, mode) else Q
