"""A cost on the fundamental matrix, for trajectories of an augmented system."""

# ruff: noqa: N803, N806 (the letters are the thesis's)

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hybrid.hilqr.cost import Cost
from hybrid.hilqr.extension import Modes
from hybrid.hilqr.types import Array, CostExpansion
from hybrid.systems import System


@dataclass(frozen=True)
class ConvergentCost:
    """base(x, u) + weight |W Y_N|_F^2 + running sum_k |W Y_k|_F^2, with k < N and Y = Phi V.

    As V V' is the covariance at the start, |W Y|_F^2 is the trace of the linearised covariance of
    W x, (3.37). It is a sum of squares of states of the augmented system, so HiLQR takes its
    gradient exactly and its Hessian in Gauss-Newton's form. A mode of fewer states than ``W`` has
    columns takes as many of them as it has.

    Raises:
        ValueError: weights that are negative or not finite, W not finite or of another width than
            the states, or no columns; and later, states of another number of columns.
    """

    system: System  # without its variation
    base: Cost  # of the system's own states and inputs
    columns: int  # k
    W: Array  # (p, n): what of a perturbation matters
    weight: float
    running: float = 0.0

    def __post_init__(self) -> None:
        """Check the weights, the columns and W."""
        for name, weight in (("weight", self.weight), ("running", self.running)):
            if not 0.0 <= weight < np.inf:
                raise ValueError(f"{name} is {weight}: give a finite number, zero or more")
        if self.columns < 1 or self.columns != int(self.columns):
            raise ValueError(f"columns is {self.columns}: give as many as the augmented system has")
        n = self.system.state_dim
        object.__setattr__(self, "W", np.asarray(self.W, dtype=np.float64))
        if self.W.ndim != 2 or self.W.shape[1] != n:
            raise ValueError(f"W has the shape {self.W.shape}: give (any number, {n})")
        if not np.all(np.isfinite(self.W)):
            raise ValueError("W is not finite: give finite numbers")

    def value(self, states: Array, inputs: Array, modes: Modes) -> float:
        """Cost of augmented states (N+1, n + n k) and inputs (N, m)."""
        value = self.base.value(self.own_states(states, modes), inputs, modes)
        for knot in self._weighted(modes):
            WY = self._weight_of(modes.knots[knot]) @ self.perturbations(states, modes, knot)
            value += self._weight(knot, modes) * float(np.sum(WY * WY))
        return value

    def expand(self, states: Array, inputs: Array, modes: Modes) -> CostExpansion:
        """True gradients and Hessians about a trajectory, with the modes held."""
        own = self.base.expand(self.own_states(states, modes), inputs, modes)
        wide = self._widened(own, states.shape[1], modes)
        for knot in self._weighted(modes):
            n, w = self._dim(modes, knot), self._weight(knot, modes)
            W = self._weight_of(modes.knots[knot])
            part = slice(n, n * (1 + self.columns))
            M = 2.0 * w * W.T @ W
            wide.l_x[knot, part] += (M @ self.perturbations(states, modes, knot)).ravel()
            wide.l_xx[knot, part, part] += np.kron(M, np.eye(self.columns))
        return wide

    def own_states(self, states: Array, modes: Modes) -> Array:
        """States (N+1, n) without the columns, zero beyond each mode's own dimension."""
        width = self.system.state_dim * (1 + self.columns)
        if states.shape[1] != width:
            remedy = f"a cost on {self.columns} columns takes {width}: give both the same columns"
            raise ValueError(f"augmented states have {states.shape[1]} numbers, {remedy}")
        own = np.zeros((len(states), self.system.state_dim))
        for knot in range(len(states)):
            n = self._dim(modes, knot)
            own[knot, :n] = states[knot, :n]
        return own

    def perturbations(self, states: Array, modes: Modes, knot: int) -> Array:
        """Y (n, k) at a knot."""
        n = self._dim(modes, knot)
        return states[knot, n : n * (1 + self.columns)].reshape(n, self.columns)

    def _dim(self, modes: Modes, knot: int) -> int:
        return self.system.modes[int(modes.knots[knot])].state_dim

    def _weight_of(self, mode: int) -> Array:
        return self.W[:, : self.system.modes[int(mode)].state_dim]

    def _weighted(self, modes: Modes) -> range:
        """Knots that cost something."""
        last = len(modes.knots) - 1
        return range(0 if self.running else last, last + 1)

    def _weight(self, knot: int, modes: Modes) -> float:
        return self.weight if knot == len(modes.knots) - 1 else self.running

    def _widened(self, own: CostExpansion, width: int, modes: Modes) -> CostExpansion:
        """The base's expansion in arrays of the augmented width."""
        count, m = len(own.l_x), own.l_u.shape[1]
        l_x, l_xx = np.zeros((count, width)), np.zeros((count, width, width))
        l_ux = np.zeros((count - 1, m, width))
        for knot in range(count):
            n = self._dim(modes, knot)
            l_x[knot, :n], l_xx[knot, :n, :n] = own.l_x[knot, :n], own.l_xx[knot, :n, :n]
            if knot < count - 1:
                l_ux[knot, :, :n] = own.l_ux[knot, :, :n]
        return CostExpansion(l_x, own.l_u, l_xx, l_ux, own.l_uu)
