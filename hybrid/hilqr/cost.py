"""Quadratic tracking cost of systems whose states are plain vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hybrid.hilqr.types import Array, CostExpansion


@dataclass(frozen=True)
class QuadraticCost:
    """sum_k e_k' Q e_k + u_k' R u_k + e_N' Q_N e_N, with e = x - target and no factor one half."""

    target: Array  # (n,) or (N+1, n)
    state_weight: Array  # Q (n, n) symmetric
    input_weight: Array  # R (m, m) symmetric
    terminal_weight: Array  # Q_N (n, n) symmetric

    def value(self, states: Array, inputs: Array) -> float:
        """Cost of a trajectory, states (N+1, n) and inputs (N, m)."""
        error = states - self.target
        running = np.sum((error[:-1] @ self.state_weight) * error[:-1])
        running += np.sum((inputs @ self.input_weight) * inputs)
        return float(running + error[-1] @ self.terminal_weight @ error[-1])

    def expand(self, states: Array, inputs: Array) -> CostExpansion:
        """True gradients and Hessians about a trajectory."""
        error = states - self.target
        (count, n), m = error.shape, inputs.shape[1]
        l_xx = np.broadcast_to(2.0 * self.state_weight, (count, n, n)).copy()
        l_xx[-1] = 2.0 * self.terminal_weight
        l_x = 2.0 * error @ self.state_weight
        l_x[-1] = 2.0 * self.terminal_weight @ error[-1]
        l_uu = np.broadcast_to(2.0 * self.input_weight, (count - 1, m, m)).copy()
        l_u = 2.0 * inputs @ self.input_weight
        return CostExpansion(l_x, l_u, l_xx, np.zeros((count - 1, m, n)), l_uu)
