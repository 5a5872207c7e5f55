"""Data between the HiLQR solver and a model: policies, rollouts, trajectories, expansions.

The solver never subtracts two states, so a state may be stored with more numbers (nx) than its
tangent space has dimensions (n): a quaternion counts four, its tangent three.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from saltation.arrays import Array, Flags, Integers
from saltation.hilqr.bounds import InputBounds


class Sized(Protocol):
    """A model, or a hybrid system, that knows its dimensions."""

    @property
    def state_dim(self) -> int:
        """n, of the tangent space and of the states, which must be the same."""

    @property
    def input_dim(self) -> int:
        """m."""


@dataclass(frozen=True)
class Policies:
    """P affine policies, and the C candidates that roll them out.

    Candidate c, with p = policy_index[c], applies (5.17)::

        u_k = inputs[p, k] + step_size[c] feedforward[p, k] + gains[p, k] (x_k (-) states[p, k])

    where (-) is the model's own difference of states, in its tangent space. Where there are
    ``bounds`` the model clamps u_k to them.
    """

    states: Array  # (P, N+1, nx)
    inputs: Array  # (P, N, m)
    feedforward: Array  # (P, N, m)
    gains: Array  # (P, N, m, n)
    policy_index: Integers  # (C,)
    step_size: Array  # (C,)
    aux: Sequence[Any] = ()  # (P,) what the model recorded with each reference (modes, events)
    extend_reference: bool = True  # extend references over mode mismatches (5.3.4)
    bounds: InputBounds | None = None

    @property
    def count(self) -> int:
        """Number of candidates C."""
        return len(self.policy_index)

    @staticmethod
    def of(
        states: Array,
        inputs: Array,
        gains: Array,
        feedforward: Array | None = None,
        step_sizes: Sequence[float] | Array = (1.0,),
        aux: Any = None,
    ) -> Policies:
        """One policy (P = 1) with one candidate per step size.

        Args:
            states: nominal states (N+1, nx).
            inputs: nominal inputs (N, m).
            gains: feedback gains (N, m, n), with a plus sign in the law.
            feedforward: input change at step size one (N, m); zeros when left out.
            step_sizes: step size of each candidate (C,).
            aux: the model's own record of the nominal trajectory, None when it has none.
        """
        if feedforward is None:
            feedforward = np.zeros_like(inputs)
        return Policies(
            states[None],
            inputs[None],
            feedforward[None],
            gains[None],
            np.zeros(len(step_sizes), np.int64),
            np.asarray(step_sizes, float),
            (aux,),
        )

    @staticmethod
    def zeros(model: Sized, steps: int) -> Policies:
        """Inputs of zero without feedback, over ``steps`` timesteps: a start from rest."""
        n, m = model.state_dim, model.input_dim
        states, inputs = np.zeros((steps + 1, n)), np.zeros((steps, m))
        return Policies.of(states, inputs, np.zeros((steps, m, n)))

    def join(self, other: Policies) -> Policies:
        """All candidates of both; those of ``other`` come last."""
        shift = len(self.inputs)
        return Policies(
            np.concatenate((self.states, other.states)),
            np.concatenate((self.inputs, other.inputs)),
            np.concatenate((self.feedforward, other.feedforward)),
            np.concatenate((self.gains, other.gains)),
            np.concatenate((self.policy_index, other.policy_index + shift)),
            np.concatenate((self.step_size, other.step_size)),
            _records(self) + _records(other),
            self.extend_reference,
            self.bounds,
        )


def _records(policies: Policies) -> tuple[Any, ...]:
    return tuple(policies.aux) or (None,) * len(policies.inputs)


class Trajectory(NamedTuple):
    """One rolled-out trajectory, which satisfies the dynamics."""

    states: Array  # (N+1, nx)
    inputs: Array  # (N, m)
    cost: float
    aux: Any = None  # the model's own record: modes, events, contact sets


class Rollouts(NamedTuple):
    """Rollouts of C candidates from one initial state."""

    states: Array  # (C, N+1, nx)
    inputs: Array  # (C, N, m)
    cost: Array  # (C,)
    ok: Flags  # (C,) finite, and valid in the model's own judgement
    aux: Sequence[Any] | NDArray[Any] | None = None  # (C,) indexed by candidate

    def select(self, candidate: int) -> Trajectory:
        """Trajectory of one candidate."""
        return Trajectory(
            self.states[candidate],
            self.inputs[candidate],
            float(self.cost[candidate]),
            None if self.aux is None else self.aux[candidate],
        )

    def valid_costs(self) -> Array:
        """Cost of each candidate (C,), inf where it is not valid and finite."""
        return np.where(self.ok & np.isfinite(self.cost), self.cost, np.inf)

    def best(self) -> int | None:
        """Index of the cheapest valid candidate; None when no candidate is valid and finite."""
        cost = self.valid_costs()
        index = int(np.argmin(cost))
        return index if np.isfinite(cost[index]) else None


class Jump(NamedTuple):
    """A hybrid transition that happened within timestep ``knot``.

    ``flow_state`` and ``flow_input`` linearise what remains of the timestep after it, up to the
    next transition or the end of the timestep. Left out, the event is taken to be at the end of
    its timestep, as in 5.3.3.
    """

    knot: int
    saltation: Array  # (n, n) Xi, (3.2)
    reset_jacobian: Array  # (n, n) D_x R
    flow_state: Array | None = None  # (n, n)
    flow_input: Array | None = None  # (n, m)
    saltation_input: Array | None = None  # (n, m) what the input does to the event itself


class Drift(NamedTuple):
    """Positions that drift with the velocities after the step, as in one semi-implicit Euler step.

    dx'_i = dx_i + dt dx'_{i + shift} for first <= i < last: so rows i of A and B are dt times the
    rows i + shift, and A has a one more on its diagonal.
    """

    first: int
    last: int
    shift: int  # from a position to its velocity, which is none of the positions
    dt: float  # [s]


class Linearisation(NamedTuple):
    """dx_{k+1} = A_k dx_k + B_k du_k up to the first transition within timestep k.

    ``transitions`` are in order of time. Without them A and B are those of the whole timestep.

    ``drift`` may be given where all A and B have that structure to rounding. The backward pass then
    leaves the positions' rows out of its products, without a look at them.
    """

    A: Array  # (N, n, n)
    B: Array  # (N, n, m)
    transitions: Sequence[Jump] = ()
    drift: Drift | None = None


class CostExpansion(NamedTuple):
    """True gradients and Hessians of the cost about a trajectory (no hidden factor one half).

    A cost on a transition, J_Nj in (5.23), belongs in the terms of its knot: add
    f_x' J_x, f_u' J_x, f_x' J_xx f_x and so on, as (5.27)-(5.31) do.
    """

    l_x: Array  # (N+1, n), the last row is terminal
    l_u: Array  # (N, m)
    l_xx: Array  # (N+1, n, n)
    l_ux: Array  # (N, m, n)
    l_uu: Array  # (N, m, m)


class Model(Protocol):
    """A system as the solver sees it, hybrid or not. Nothing here may raise: see ``ok``.

    A model may also have a method ``describe(trajectory) -> str``. Where a solve stalls, or the
    rollout of its seed is not valid, the solution's message ends with what it says of that
    trajectory. For a cost with kinks it may have a method ``hold``, as
    ``EventDrivenModel`` has.
    """

    def roll_out(self, x0: Array, policies: Policies) -> Rollouts:
        """Simulate every candidate from the state x0 (nx,), hybrid transitions included.

        The inputs (C, N, m) that it returns are those that acted, clamped to ``policies.bounds``.
        """

    def linearise(self, trajectory: Trajectory) -> Linearisation:
        """First-order dynamics about a trajectory, and its transitions."""

    def quadratise(self, trajectory: Trajectory) -> CostExpansion:
        """Second-order expansion of the cost about a trajectory."""
