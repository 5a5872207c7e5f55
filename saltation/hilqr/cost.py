"""Costs of event-driven trajectories: what the model asks of one, and the plain quadratic."""

# ruff: noqa: N803 (the letters are the thesis's)

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from saltation.hilqr.extension import Modes
from saltation.hilqr.types import Array, CostExpansion


class Cost(Protocol):
    """Running and terminal cost of a trajectory, (5.4). It never raises on a finite trajectory."""

    def value(self, states: Array, inputs: Array, modes: Modes) -> float:
        """Cost of states (N+1, n), inputs (N, m) and the modes that they went through."""

    def expand(self, states: Array, inputs: Array, modes: Modes) -> CostExpansion:
        """Gradients and Hessians with the modes held, in arrays of the caller's own."""


@dataclass(frozen=True)
class QuadraticCost:
    """sum_k e_k' Q e_k + u_k' R u_k + e_N' Q_N e_N, with e = x - target and no factor one half.

    It is the same in every mode.

    Raises:
        ValueError: a weight is not square, or R is not positive definite.
    """

    target: Array  # (n,) or (N+1, n)
    state_weight: Array  # Q (n, n) symmetric
    input_weight: Array  # R (m, m) symmetric
    terminal_weight: Array  # Q_N (n, n) symmetric

    def __post_init__(self) -> None:
        """Refuse weights that no descent can work with."""
        n, R = np.shape(self.target)[-1], np.asarray(self.input_weight)
        for name, weight, size in (
            ("R", R, len(R) if R.ndim else 1),
            ("Q", self.state_weight, n),
            ("Q_N", self.terminal_weight, n),
        ):
            if np.shape(weight) != (size, size):
                raise ValueError(f"{name} has shape {np.shape(weight)}: give ({size}, {size})")
        if not np.all(np.linalg.eigvalsh(R) > 0.0):
            raise ValueError(f"R = {R.tolist()} is not positive definite: give one that is")

    @staticmethod
    def reaching(target: Array, input_weight: Array, terminal_weight: Array) -> QuadraticCost:
        """Cost of 5.4: be at a target (n,) at the end, with R (m, m) and Q_N (n, n), Q = 0."""
        n = len(target)
        return QuadraticCost(target, np.zeros((n, n)), input_weight, terminal_weight)

    def value(self, states: Array, inputs: Array, modes: Modes | None = None) -> float:
        """Cost of a trajectory, states (N+1, n) and inputs (N, m)."""
        return quadratic_value(states - self.target, inputs, *self._weights())

    def expand(self, states: Array, inputs: Array, modes: Modes | None = None) -> CostExpansion:
        """True gradients and Hessians about a trajectory."""
        return quadratic_expansion(states - self.target, inputs, *self._weights())

    def _weights(self) -> tuple[Array, Array, Array]:
        return self.state_weight, self.input_weight, self.terminal_weight


def quadratic_value(error: Array, effort: Array, Q: Array, R: Array, Q_N: Array) -> float:
    """sum_k e_k' Q e_k + d_k' R d_k + e_N' Q_N e_N of e (N+1, n) and d (N, m)."""
    running = np.sum((error[:-1] @ Q) * error[:-1]) + np.sum((effort @ R) * effort)
    return float(running + error[-1] @ Q_N @ error[-1])


def quadratic_expansion(
    error: Array, effort: Array, Q: Array, R: Array, Q_N: Array
) -> CostExpansion:
    """Gradients and Hessians of ``quadratic_value`` by e and d."""
    (count, n), m = error.shape, effort.shape[1]
    l_xx = np.broadcast_to(2.0 * Q, (count, n, n)).copy()
    l_xx[-1] = 2.0 * Q_N
    l_x = 2.0 * error @ Q
    l_x[-1] = 2.0 * Q_N @ error[-1]
    l_uu = np.broadcast_to(2.0 * R, (count - 1, m, m)).copy()
    l_u = 2.0 * effort @ R
    return CostExpansion(l_x, l_u, l_xx, np.zeros((count - 1, m, n)), l_uu)
