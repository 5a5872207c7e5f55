"""Inequality constraints on a trajectory, and HiLQR's model with them in its cost.

An augmented Lagrangian (Howell, Jackson and Manchester, ALTRO, IROS 2019; Nocedal and Wright,
Numerical Optimization, 17.4) adds to the cost, for each c_i(x_k, u_k) <= 0,

    (max(0, lambda + mu c)^2 - lambda^2) / (2 mu)                                        (AL)

with a multiplier lambda for each constraint and knot, and one penalty mu. The solver sees a model
with another cost and needs no change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from saltation.arrays import Integers, Pair
from saltation.hilqr.messages import description
from saltation.hilqr.types import (
    Array,
    CostExpansion,
    Linearisation,
    Model,
    Policies,
    Rollouts,
    Trajectory,
)


class Constraints(Protocol):
    """P inequalities c(x_k, u_k) <= 0 at every knot, the last knot with its state alone.

    A constraint that does not hold at a knot is -inf there; its derivatives there are not used.
    """

    @property
    def names(self) -> Sequence[str]:
        """Names of the constraints (P,), for messages."""

    def values(self, states: Array, inputs: Array) -> Array:
        """C (C, N+1, P) of states (C, N+1, nx) and inputs (C, N, m)."""

    def jacobians(self, states: Array, inputs: Array, knots: Integers) -> Pair:
        """c_x (K, P, n) and c_u (K, P, m) at `knots` (K,) of states (N+1, nx) and inputs (N, m).

        What is in c_u at the last knot of all is not used.
        """


class Violation(NamedTuple):
    """The largest violation of a trajectory, 0 where there is none, and where it is.

    NaN where a constraint is.
    """

    value: float
    knot: int
    name: str

    def __str__(self) -> str:
        if np.isnan(self.value):
            return f"{self.name} is not a number at knot {self.knot}"
        return f"{self.name} is violated by {self.value:.3g} at knot {self.knot}"


@dataclass(frozen=True)
class JoinedConstraints:
    """Constraints of several parts, one after another."""

    parts: Sequence[Constraints]

    @property
    def names(self) -> Sequence[str]:
        """Names of the constraints."""
        return [name for part in self.parts for name in part.names]

    def values(self, states: Array, inputs: Array) -> Array:
        """See `Constraints`."""
        return np.concatenate([part.values(states, inputs) for part in self.parts], 2)

    def jacobians(self, states: Array, inputs: Array, knots: Integers) -> Pair:
        """See `Constraints`."""
        c_x, c_u = zip(*(part.jacobians(states, inputs, knots) for part in self.parts), strict=True)
        return np.concatenate(c_x, 1), np.concatenate(c_u, 1)


class ConstrainedModel:
    """A model with the augmented Lagrangian of constraints in its cost.

    Attributes:
        multipliers: lambda (N+1, P), never negative.
        penalty: mu.
    """

    def __init__(self, model: Model, constraints: Constraints, penalty: float) -> None:
        """Begin with multipliers of zero."""
        self.constraints, self.penalty = constraints, penalty
        self.multipliers = np.zeros((0, len(constraints.names)))
        self._model = model

    def roll_out(self, x0: Array, policies: Policies) -> Rollouts:
        """The model's rollouts, with (AL) in their costs."""
        rollouts = self._model.roll_out(x0, policies)
        with np.errstate(invalid="ignore", over="ignore"):  # a rollout may have diverged
            added = self._terms(self.constraints.values(rollouts.states, rollouts.inputs))
        cost = np.where(rollouts.ok, rollouts.cost + added, np.inf)
        return rollouts._replace(cost=cost, ok=rollouts.ok & np.isfinite(cost))

    def linearise(self, trajectory: Trajectory) -> Linearisation:
        """Linearisation of the model."""
        return self._model.linearise(trajectory)

    def quadratise(self, trajectory: Trajectory) -> CostExpansion:
        """The model's expansion, and that of (AL) where it is active, with c linear."""
        expansion = self._model.quadratise(trajectory)
        states, inputs = trajectory.states, trajectory.inputs
        force = self._forces(self._values(trajectory))
        active = force > 0.0
        if not active.any():
            return expansion
        knots = np.flatnonzero(active.any(1))
        c_x, c_u = self.constraints.jacobians(states, inputs, knots)
        l_x, l_u, l_xx, l_ux, l_uu = (term.copy() for term in expansion)
        for i, k in enumerate(knots.tolist()):
            rows = active[k]
            pull, a = force[k, rows], c_x[i, rows]
            l_x[k] += pull @ a
            l_xx[k] += self.penalty * (a.T @ a)
            if k < len(inputs):
                b = c_u[i, rows]
                l_u[k] += pull @ b
                l_uu[k] += self.penalty * (b.T @ b)
                l_ux[k] += self.penalty * (b.T @ a)
        return CostExpansion(l_x, l_u, l_xx, l_ux, l_uu)

    @property
    def hold(self) -> Any:
        """The model's, if it has one."""
        return getattr(self._model, "hold", None)

    def describe(self, trajectory: Trajectory) -> str:
        """The model's description of a trajectory, and its largest violation."""
        worst = self.violation(trajectory)
        broke_off = not np.all(np.isfinite(trajectory.states))  # no constraint has a value there
        limit = "" if broke_off or worst.value == 0.0 else str(worst)
        return "; ".join(filter(None, (description(self._model, trajectory), limit)))

    def cost(self, trajectory: Trajectory) -> float:
        """The model's own cost of a trajectory that this model rolled out."""
        added = self._terms(self._values(trajectory)[None])[0]
        return trajectory.cost - float(added)

    def violation(self, trajectory: Trajectory) -> Violation:
        """The largest one."""
        c = self._values(trajectory)
        knot, row = np.unravel_index(int(np.argmax(c)), c.shape)  # of a NaN, where there is one
        worst = float(c[knot, row])
        value = 0.0 if worst <= 0.0 else worst
        return Violation(value, int(knot), self.constraints.names[int(row)])

    def residual(self, trajectory: Trajectory) -> float:
        """The largest |max(c, -lambda / mu)|: 0 where no constraint is violated and none pulls.

        A multiplier that is too large holds a trajectory off its constraint. That violates nothing,
        and is not optimal. (Andreani, Birgin, Martinez and Schuverdt, SIAM J. Optim. 18, 2007.)
        """
        c = self._values(trajectory)
        return float(np.max(np.abs(np.maximum(c, -self._multipliers(len(c)) / self.penalty))))

    def restart(self, penalty: float) -> None:
        """Multipliers of zero, and a penalty."""
        self.multipliers, self.penalty = self.multipliers[:0], penalty

    def update_multipliers(self, trajectory: Trajectory) -> None:
        """Lambda <- max(0, lambda + mu c): the forces that hold the trajectory back."""
        self.multipliers = self._forces(self._values(trajectory))

    def shift(self, knots: int) -> None:
        """Move the multipliers `knots` >= 0 knots on, for a window that begins later.

        Knots that the last window did not have start from zero. The last knot keeps its own too:
        what must hold at the end of each window pulls on in the next.
        """
        shifted = np.zeros_like(self.multipliers)
        kept = self.multipliers[knots:]
        shifted[: len(kept)] = kept
        shifted[-1:] = self.multipliers[-1:]
        self.multipliers = shifted

    def _values(self, trajectory: Trajectory) -> Array:
        states, inputs = trajectory.states[None], trajectory.inputs[None]
        return self.constraints.values(states, inputs)[0]

    def _forces(self, c: Array) -> Array:
        """max(0, lambda + mu c) of c (..., N+1, P)."""
        return np.maximum(0.0, self._multipliers(c.shape[-2]) + self.penalty * c)

    def _terms(self, c: Array) -> Array:
        """The sum of (AL), (C,), of c (C, N+1, P)."""
        force = self._forces(c)
        squares = force**2 - self._multipliers(c.shape[-2]) ** 2
        return np.sum(squares, (1, 2)) / (2.0 * self.penalty)

    def _multipliers(self, knots: int) -> Array:
        if len(self.multipliers) != knots:
            self.multipliers = np.zeros((knots, self.multipliers.shape[1]))
        return self.multipliers
