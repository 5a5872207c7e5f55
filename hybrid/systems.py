"""Hybrid dynamical systems: Definition 1 of the thesis, as plain data.

A system is a set of modes J, each with a vector field F on its domain D, and a set of directed
transitions Gamma, each with a guard G = {x : g(t, x) <= 0} and a reset R. The input is held
constant over a timestep and handed to every function as u (m,).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
VectorFunction = Callable[[float, Array, Array], Array]  # (t [s], x, u) -> array
ScalarFunction = Callable[[float, Array, Array], float]


class FlowMap(NamedTuple):
    """Closed-form solution of a mode's flow over h seconds (h may be negative), input held."""

    state: Callable[[float, Array, Array, float], Array]  # (t, x, u, h) -> x(t + h)
    jacobians: Callable[[float, Array, Array, float], tuple[Array, Array]]  # D_x (n,n), D_u (n,m)


@dataclass(frozen=True)
class Mode:
    """One discrete mode: its domain's dimension, its vector field and the field's derivatives."""

    name: str
    state_dim: int  # n
    input_dim: int  # m
    flow: VectorFunction  # F(t, x, u) (n,)
    flow_state: VectorFunction  # D_x F (n, n)
    flow_input: VectorFunction  # D_u F (n, m)
    flow_map: FlowMap | None = None  # used in place of numerical integration where there is one


def zero_rate(t: float, x: Array, u: Array) -> float:
    """D_t g of a guard that does not depend on time."""
    return 0.0


@dataclass(frozen=True)
class Transition:
    """An edge (source, target) of Gamma: its guard, its reset, and their derivatives.

    The guard must be positive in the domain and fall through zero at the event. ``reset_time``
    left out means a reset that does not depend on time.
    """

    source: int
    target: int
    guard: ScalarFunction  # g(t, x, u)
    guard_state: VectorFunction  # D_x g (n_source,)
    reset: VectorFunction  # R(t, x, u) (n_target,)
    reset_state: VectorFunction  # D_x R (n_target, n_source)
    guard_time: ScalarFunction = zero_rate  # D_t g
    reset_time: VectorFunction | None = None  # D_t R (n_target,)


@dataclass(frozen=True)
class HybridSystem:
    """Modes by number and the transitions between them.

    Raises:
        ValueError: a transition names a mode that is not there.
    """

    modes: Mapping[int, Mode]
    transitions: tuple[Transition, ...]

    def __post_init__(self) -> None:
        """Check the graph and index it by source."""
        outgoing: dict[int, tuple[Transition, ...]] = {number: () for number in self.modes}
        for edge in self.transitions:
            for end in (edge.source, edge.target):
                if end not in self.modes:
                    raise ValueError(
                        f"transition ({edge.source}, {edge.target}) names mode {end}; the system"
                        f" has modes {sorted(self.modes)}: add the mode or correct the transition"
                    )
            outgoing[edge.source] += (edge,)
        object.__setattr__(self, "_outgoing", outgoing)

    def outgoing(self, mode: int) -> tuple[Transition, ...]:
        """Transitions that leave a mode, in the order in which they were given."""
        return self._outgoing[mode]  # type: ignore[attr-defined]

    def guard_rate(self, transition: Transition, t: float, x: Array, u: Array) -> float:
        """d/dt g along the flow, D_t g + D_x g F: negative where the guard is crossed (3.11)."""
        flow = self.modes[transition.source].flow(t, x, u)
        rate = transition.guard_time(t, x, u) + transition.guard_state(t, x, u) @ flow
        return float(rate)
