"""Costs of event-driven trajectories: what the model asks of one, and the plain quadratic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hybrid.hilqr.modes import Modes
from hybrid.hilqr.types import Array, CostExpansion


class Cost(Protocol):
    """Running and terminal cost of a trajectory, (5.4). It never raises on a finite trajectory."""

    def value(self, states: Array, inputs: Array, modes: Modes) -> float:
        """Cost of states (N+1, n), inputs (N, m) and the modes that they went through."""
        ...

    def expand(self, states: Array, inputs: Array, modes: Modes) -> CostExpansion:
        """Gradients and Hessians with the modes held, in arrays of the caller's own."""
        ...


@dataclass(frozen=True)
class QuadraticCost:
    """sum_k e_k' Q e_k + u_k' R u_k + e_N' Q_N e_N, with e = x - target and no factor one half.

    It is the same in every mode.
    """

    target: Array  # (n,) or (N+1, n)
    state_weight: Array  # Q (n, n) symmetric
    input_weight: Array  # R (m, m) symmetric
    terminal_weight: Array  # Q_N (n, n) symmetric

    def value(self, states: Array, inputs: Array, modes: Modes | None = None) -> float:
        """Cost of a trajectory, states (N+1, n) and inputs (N, m)."""
        error = states - self.target
        running = np.sum((error[:-1] @ self.state_weight) * error[:-1])
        running += np.sum((inputs @ self.input_weight) * inputs)
        return float(running + error[-1] @ self.terminal_weight @ error[-1])

    def expand(self, states: Array, inputs: Array, modes: Modes | None = None) -> CostExpansion:
        """True gradients and Hessians about a trajectory."""
        return quadratic_expansion(
            states - self.target,
            inputs,
            self.state_weight,
            self.input_weight,
            self.terminal_weight,
        )


def quadratic_expansion(
    error: Array, input_error: Array, state_weight: Array, input_weight: Array, terminal: Array
) -> CostExpansion:
    """Expansion of e' Q e and d' R d summed over errors e (N+1, n), d (N, m); Q_N at the end."""
    (count, n), m = error.shape, input_error.shape[1]
    l_xx = np.broadcast_to(2.0 * state_weight, (count, n, n)).copy()
    l_xx[-1] = 2.0 * terminal
    l_x = 2.0 * error @ state_weight
    l_x[-1] = 2.0 * terminal @ error[-1]
    l_uu = np.broadcast_to(2.0 * input_weight, (count - 1, m, m)).copy()
    l_u = 2.0 * input_error @ input_weight
    return CostExpansion(l_x, l_u, l_xx, np.zeros((count - 1, m, n)), l_uu)
