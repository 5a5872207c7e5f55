"""Hybrid dynamical systems: modes by number, and the transitions between them (Definition 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from saltation.arrays import Array
from saltation.mode import Derivative as Derivative
from saltation.mode import FlowMap as FlowMap
from saltation.mode import Mode, Transition
from saltation.mode import ScalarFunction as ScalarFunction
from saltation.mode import VectorFunction as VectorFunction
from saltation.parameters import as_parameters, bind, with_parameters_as_inputs

if TYPE_CHECKING:
    from saltation.events import Event


@dataclass(frozen=True, repr=False)
class System:
    """Modes by number and the transitions between them.

    Where ``parameters`` p (k,) are given, functions may take them as one argument more, their last:
    flow(t, x, u, p). The modes and transitions of the system are then bound to these values.

    Raises:
        ValueError: a transition names a mode that is not there, or parameters are no vector.
    """

    modes: Mapping[int, Mode]
    transitions: tuple[Transition, ...]
    name: str = ""
    parameters: Array = field(default_factory=lambda: np.zeros(0))  # p (k,)
    _outgoing: Mapping[int, tuple[Transition, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the graph, bind parameters, and index it by source."""
        vars(self)["transitions"] = tuple(self.transitions)
        vars(self)["parameters"] = as_parameters(self.parameters)
        vars(self)["_unbound"] = (self.modes, self.transitions)
        if len(self.parameters):
            modes = {k: bind(mode, self.parameters) for k, mode in self.modes.items()}
            edges = tuple(bind(edge, self.parameters) for edge in self.transitions)
            vars(self)["modes"] = modes
            vars(self)["transitions"] = edges
        outgoing: dict[int, tuple[Transition, ...]] = {number: () for number in self.modes}
        for edge in self.transitions:
            for end in (edge.source, edge.target):
                if end not in self.modes:
                    raise ValueError(
                        f"transition ({edge.source}, {edge.target}) names mode {end}; the system"
                        f" has modes {sorted(self.modes)}: add the mode or correct the transition"
                    )
            outgoing[edge.source] += (edge,)
        vars(self)["_outgoing"] = outgoing

    def __repr__(self) -> str:
        """Its name, modes and transitions."""
        modes = ", ".join(f"{mode.name} ({number})" for number, mode in self.modes.items())
        edges = ", ".join(edge.label for edge in self.transitions)
        return f"System {self.name}: modes {modes}; transitions {edges or 'none'}"

    def __getstate__(self) -> dict[str, Any]:
        """Pickled state: no compiled tables, which are of this process."""
        made = ("_native_tables", "_callback_tables", "_watching")
        return {name: value for name, value in vars(self).items() if name not in made}

    def watching(self, events: Sequence[Event]) -> System:
        """The system with transitions, before its own, that are watched for and not taken."""
        known = vars(self).setdefault("_watching", {})
        if tuple(events) not in known:
            edges = tuple(e for event in events for mode in self.modes for e in event.edges(mode))
            known[tuple(events)] = System(self.modes, (*edges, *self.transitions), self.name)
        return known[tuple(events)]

    @property
    def state_dim(self) -> int:
        """Largest state dimension of the modes."""
        return max((mode.state_dim for mode in self.modes.values()), default=0)

    @property
    def input_dim(self) -> int:
        """Largest input dimension of the modes: that of an input which every mode can be given."""
        return max((mode.input_dim for mode in self.modes.values()), default=0)

    def outgoing(self, mode: int) -> tuple[Transition, ...]:
        """Transitions that leave a mode, in the order in which they were given.

        Raises:
            ValueError: there is no such mode.
        """
        try:
            return self._outgoing[mode]
        except KeyError:
            modes = sorted(self.modes)
            raise ValueError(f"there is no mode {mode}; the system has modes {modes}") from None

    def with_parameters_as_inputs(self) -> System:
        """The system without parameters whose input is (u, p); itself where it has none."""
        if not len(self.parameters):
            return self
        modes, edges = self._unbound  # type: ignore[attr-defined]
        m, k = self.input_dim, len(self.parameters)
        return System(
            {number: with_parameters_as_inputs(mode, m, k) for number, mode in modes.items()},
            tuple(with_parameters_as_inputs(edge, m, k) for edge in edges),
            self.name,
        )

    def guard_rate(self, transition: Transition, t: float, x: Array, u: Array) -> float:
        """d/dt g along the flow, D_t g + D_x g F: negative where the guard is crossed (3.11)."""
        flow = self.modes[transition.source].flow(t, x, u)
        rate = transition.guard_time(t, x, u) + transition.guard_state(t, x, u) @ flow
        return float(rate)
