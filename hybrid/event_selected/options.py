"""Accuracy and limits of event-selected integration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hybrid.compiled.limits import Limits
from hybrid.event_selected.machine import EssLimits
from hybrid.event_selected.system import EventSelectedSystem
from hybrid.options import SimulationOptions
from hybrid.systems import Array


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
            ValueError: an epsilon, tolerance or limit that no run can have.
        """
        where, epsilon = f"system {system.name}: ", np.asarray(self.epsilon, dtype=np.float64)
        if epsilon.shape not in ((), (system.event_count,)):
            raise ValueError(
                f"{where}epsilon has shape {epsilon.shape}; give one number, or one for each of its"
                f" {system.event_count} guards"
            )
        if not ((epsilon > 0.0) & (epsilon < np.inf)).all():
            raise ValueError(f"{where}epsilon {self.epsilon}; give finite numbers above zero")
        if not all(value > 0.0 for value in (self.max_step, self.rtol, self.atol)):
            raise ValueError(
                f"{where}max_step {self.max_step} s and tolerances {self.rtol}, {self.atol}; give"
                " all of them above zero"
            )
        if not (_is_count(self.max_steps, 1) and _is_count(self.max_events, 0)):
            raise ValueError(
                f"{where}max_steps {self.max_steps} and max_events {self.max_events}; give whole"
                " numbers, 1 step or more and 0 events or more"
            )
        return EssLimits(epsilon + np.zeros(system.event_count), Limits.of(self))


def _is_count(value: float, least: int) -> bool:
    """Whether a limit is a whole number that kernels can hold."""
    return least <= value < 2**62 and value == int(value)
