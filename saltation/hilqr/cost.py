"""Costs of event-driven trajectories: what the model asks of one, and the plain quadratic."""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Protocol

import numpy as np

from saltation.arrays import Pair
from saltation.hilqr.extension import Modes
from saltation.hilqr.types import Array, CostExpansion


class Cost(Protocol):
    """Running and terminal cost of a trajectory, (5.4). It never raises on a finite trajectory."""

    def value(self, states: Array, inputs: Array, modes: Modes) -> float:
        """Cost of states (N+1, n), inputs (N, m) and the modes that they went through."""

    def expand(self, states: Array, inputs: Array, modes: Modes) -> CostExpansion:
        """Gradients and Hessians with the modes held, in arrays of the caller's own."""


class QuadraticErrors(ABC):
    """sum_k e_k' Q e_k + d_k' R d_k + e_N' Q_N e_N of errors; no factor one half."""

    @property
    def _weights(self) -> tuple[Array, Array, Array]:
        """Q, R and Q_N, fields of a dataclass."""
        return attrgetter("state_weight", "input_weight", "terminal_weight")(self)

    @abstractmethod
    def errors(self, states: Array, inputs: Array, modes: Any) -> Pair:
        """Errors e (N+1, n) in state and d (N, m) in input."""

    def value(self, states: Array, inputs: Array, modes: Modes | None = None) -> float:
        """Cost of a trajectory, states (N+1, n) and inputs (N, m)."""
        (error, effort), (Q, R, Q_N) = self.errors(states, inputs, modes), self._weights
        running = np.sum((error[:-1] @ Q) * error[:-1]) + np.sum((effort @ R) * effort)
        return float(running + error[-1] @ Q_N @ error[-1])

    def expand(self, states: Array, inputs: Array, modes: Modes | None = None) -> CostExpansion:
        """True gradients and Hessians with the modes, and so the errors' references, held."""
        (error, effort), (Q, R, Q_N) = self.errors(states, inputs, modes), self._weights
        (count, n), m = error.shape, effort.shape[1]
        l_xx = np.broadcast_to(2.0 * Q, (count, n, n)).copy()
        l_xx[-1] = 2.0 * Q_N
        l_x = 2.0 * error @ Q
        l_x[-1] = 2.0 * Q_N @ error[-1]
        l_uu = np.broadcast_to(2.0 * R, (count - 1, m, m)).copy()
        l_u = 2.0 * effort @ R
        return CostExpansion(l_x, l_u, l_xx, np.zeros((count - 1, m, n)), l_uu)


@dataclass(frozen=True)
class QuadraticCost(QuadraticErrors):
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

    def errors(self, states: Array, inputs: Array, modes: Modes | None) -> Pair:
        """x - target (N+1, n), and inputs (N, m)."""
        return states - self.target, inputs
