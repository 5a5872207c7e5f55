"""Accuracy and limits of event-selected integration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hybrid.compiled.limits import Limits
from hybrid.event_selected.machine import EssLimits
from hybrid.event_selected.system import EventSelectedSystem
from hybrid.integration import Tolerance
from hybrid.simulation_types import SimulationOptions
from hybrid.systems import Array


@dataclass(frozen=True)
class EssOptions:
    """How wide the neighbourhoods of the guards are, and how accurate the integration is.

    A crossing's error is of the order of epsilon squared, section 3.1. Dips of h through zero and
    back within one step are not seen: ``max_step`` bounds them.
    """

    epsilon: float | Array = 1e-3  # of all guards, or one each (m,) [units of h]
    max_step: float = np.inf  # [s]
    relative: float = 1e-8  # tolerances of an integration step
    absolute: float = 1e-10
    max_steps: int = 100_000  # in one run
    max_crossings: int = 10_000

    def limits(self, system: EventSelectedSystem) -> EssLimits:
        """The options as kernels take them.

        Raises:
            ValueError: an epsilon, tolerance or limit that no run can have.
        """
        epsilon = np.asarray(self.epsilon, dtype=np.float64)
        if epsilon.shape not in ((), (system.event_count,)):
            raise ValueError(
                f"system {system.name}: epsilon has shape {epsilon.shape}; give one number, or"
                f" one for each of its {system.event_count} guards"
            )
        positive = (self.max_step, self.relative, self.absolute)
        if not (epsilon > 0.0).all() or not all(value > 0.0 for value in positive):
            raise ValueError(
                f"system {system.name}: epsilon {self.epsilon}, max_step {self.max_step} s and"
                f" tolerances {self.relative}, {self.absolute}: give all of them above zero"
            )
        each = epsilon + np.zeros(system.event_count)
        tolerance = Tolerance(self.relative, self.absolute, self.max_step, max_steps=self.max_steps)
        of_steps = Limits.of(SimulationOptions(tolerance))
        return EssLimits(each, int(self.max_crossings), of_steps)
