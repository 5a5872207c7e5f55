"""Kernel of an implicit step: the Rosenbrock method RODAS, of order 4, for stiff flows.

Stiffly accurate and L-stable, with six linear systems of one matrix a step and no iteration.
Source: Hairer, Wanner, Solving Ordinary Differential Equations II, IV.7 and IV.10.
"""

# ruff: noqa: N803, N806 (letters of the source)

from __future__ import annotations

import numpy as np

from saltation.compiled.calls import STEP, put, rate
from saltation.compiled.limits import EPSILON
from saltation.compiled.runge_kutta import finite
from saltation.kernels import kernel

ORDER = 4
GAMMA = 0.25
NODES = np.array([0.0, 0.386, 0.21, 0.63, 1.0, 1.0])
TIMES = np.array([0.25, -0.1043, 0.1035, -0.0362, 0.0, 0.0])  # of D_t F
A = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [1.544, 0.0, 0.0, 0.0, 0.0],
        [0.9466785280815826, 0.2557011698983284, 0.0, 0.0, 0.0],
        [3.314825187068521, 2.896124015972201, 0.9986419139977817, 0.0, 0.0],
        [1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895, 0.0],
        [1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895, 1.0],
    ]
)
G = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [-5.6688, 0.0, 0.0, 0.0, 0.0],
        [-2.430093356833875, -0.2063599157091915, 0.0, 0.0, 0.0],
        [-0.1073529058151375, -9.594562251023355, -20.47028614809616, 0.0, 0.0],
        [7.496443313967647, -10.24680431464352, -33.99990352819905, 11.7089089320616, 0.0],
        [8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136,
         -6.058818238834054],
    ]
)  # fmt: skip
DENSE = np.array(
    [
        [10.12623508344586, -7.487995877610167, -34.80091861555747, -7.992771707568823,
         1.025137723295662],
        [-0.6762803392801253, 6.087714651680015, 16.43084320892478, 24.76722511418386,
         -6.594389125716872],
    ]
)  # fmt: skip


@kernel
def rosenbrock(s, mode, t, x, u, h, slope, C, typical, errors):
    """One step of h [s] from F(t, x) = ``slope``: its end (n,); fills C and errors (n,)."""
    n = len(x)
    E, by_time = np.zeros((n, n)), np.zeros(n)
    for j in range(n):
        ahead, behind, size = x.copy(), x.copy(), max(abs(x[j]), typical[j], abs(h * slope[j]))
        by = STEP * (size if size > 0.0 else 1.0)
        ahead[j] += by
        behind[j] -= by
        change = rate(s, mode, t, ahead, u) - rate(s, mode, t, behind, u)
        for i in range(n):
            E[i, j] = -change[i] / (2.0 * by)
        E[j, j] += 1.0 / (GAMMA * h)
    by = max(STEP * abs(h), 64.0 * EPSILON * abs(t))
    put(by_time, (rate(s, mode, t + by, x, u) - rate(s, mode, t - by, x, u)) / (2.0 * by))
    if not finite(E.ravel()):
        errors[0] = np.nan
        return np.full(n, np.nan)
    inverse, U, end = np.linalg.inv(E), np.zeros((6, n)), x.copy()
    for i in range(6):
        for k in range(n):
            end[k] = x[k]
            for j in range(min(i, 5)):
                end[k] += A[i, j] * U[j, k]
        value = slope if i == 0 else rate(s, mode, t + NODES[i] * h, end, u)
        right = np.empty(n)
        for k in range(n):
            right[k] = value[k] + h * TIMES[i] * by_time[k]
            for j in range(i):
                right[k] += G[i, j] / h * U[j, k]
        put(U[i], inverse @ right)
    for k in range(n):
        end[k] += U[5, k]
        errors[k] = abs(U[5, k])
        for i in range(len(C)):
            C[i, k] = end[k] - x[k] if i == 0 else 0.0
        for j in range(5):
            C[1, k] += DENSE[0, j] * U[j, k]
            C[2, k] += DENSE[1, j] * U[j, k]
    return end
