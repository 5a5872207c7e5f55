"""Event-selected systems, whose piece of the vector field the signs of events select; options.

Source: Anderson and Revzen, "Rapid Integrator for a Class of Multi-Contact Systems", section 2.1.
Guard k is the zero level of h_k; near it, every piece of f carries h_k up through zero (liveness,
requirement (4)), so that a guard is crossed once until another crossing re-arms it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from saltation.arrays import Flags
from saltation.compiled.limits import Limits
from saltation.event_selected.machine import EssLimits
from saltation.options import SimulationOptions
from saltation.systems import Array


@dataclass(frozen=True)
class EventSelectedSystem:
    """The pair (f, h) of section 2.1, and which crossing makes which guard a candidate again.

    ``flow`` gets the side of every guard, -1.0 before its crossing and +1.0 after it, and must
    be smooth in x for each of the 2^m sides, a little beyond the guards too. ``rearm`` is the
    paper's "guard reset matrix": row j is True where crossing guard j makes guard k a candidate
    again. Two guards on one surface that is crossed to and fro, h_k = -h_j, arm each other. A guard
    that is armed far above its zero stays on its side +1.0 until h is below zero: that fall is
    not located, so a flow that jumps there needs the guard -h as well.

    After projection the value of h is rounding error; its sign must not be used, so ``flow`` gets
    the side. The print of listing 1 has an error here: docs/errata.md.

    The functions compile where numba can compile them: arithmetic, loops, ``np.array([...])``.
    They must return new arrays and leave their arguments as they are.

    Raises:
        ValueError: sizes that do not fit, or a diagonal of ``rearm`` that is not False.
    """

    name: str
    state_dim: int  # n
    event_count: int  # m
    flow: Callable[[Array, Array, Array], Array]  # f(x (n,), side (m,), p (k,)) -> (n,)
    events: Callable[[Array, Array], Array]  # h(x, p) -> (m,)
    events_state: Callable[[Array, Array], Array]  # Dh(x, p) -> (m, n)
    rearm: Flags = field(
        default_factory=lambda: np.zeros((0, 0), bool)
    )  # (m, m); (0, 0): once each
    parameters: Array = field(default_factory=lambda: np.zeros(0))  # p (k,)

    def __post_init__(self) -> None:
        """Bring the arrays to their types, and check their sizes."""
        m = self.event_count
        if not (self.state_dim >= 1 and m >= 0):
            raise ValueError(
                f"system {self.name}: {self.state_dim} states and {m} events; give 1 or more states"
            )
        given = np.zeros((m, m)) if np.size(self.rearm) == 0 else self.rearm
        rearm = np.ascontiguousarray(given, bool)
        if rearm.shape != (m, m):
            raise ValueError(f"system {self.name}: rearm is {rearm.shape}; give ({m}, {m})")
        if rearm.diagonal().any():
            guard = int(np.argmax(rearm.diagonal()))
            raise ValueError(
                f"system {self.name}: guard {guard} arms itself, and h only rises through it; add"
                " the guard -h, and let the two arm each other"
            )
        vars(self)["rearm"] = rearm
        vars(self)["parameters"] = np.array(self.parameters, float).ravel()

    def side(self, x: Array) -> Array:
        """Side (m,) of every guard at a state: -1.0 where h < 0, else +1.0."""
        return np.where(np.asarray(self.events(x, self.parameters)) < 0.0, -1.0, 1.0)


@dataclass(frozen=True)
class EssOptions(SimulationOptions):
    """Options of a simulation, and how wide the neighbourhoods of the guards are.

    A crossing's error is of the order of epsilon squared, section 3.1. A step within which h goes
    through zero and back is cut before it, where h at its ends and thirds shows that; ``max_step``
    is for h that changes sign more quickly than f asks for steps. What concerns the location of
    events, and ``method``, is not used.
    """

    rtol: float = 1e-8
    atol: float = 1e-10
    max_steps: int = 100_000  # within each second
    max_events: int = 10_000  # guards crossed within each second
    epsilon: float | Array = 1e-3  # of all guards, or one each (m,) [units of h]

    def limits(self, system: EventSelectedSystem) -> EssLimits:
        """The options as kernels take them.

        Raises:
            ValueError: an epsilon that no run can have.
        """
        where, epsilon = f"system {system.name}: ", np.asarray(self.epsilon, float)
        if epsilon.shape not in ((), (system.event_count,)):
            raise ValueError(
                f"{where}epsilon has shape {epsilon.shape}; give one number, or one for each of its"
                f" {system.event_count} guards"
            )
        if not ((epsilon > 0.0) & (epsilon < np.inf)).all():
            raise ValueError(f"{where}epsilon {self.epsilon}; give finite numbers above zero")
        return EssLimits(epsilon + np.zeros(system.event_count), Limits.of(self))
