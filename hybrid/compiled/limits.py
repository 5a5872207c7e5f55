"""What kernels of simulation are told: accuracy, and codes of how it may end."""

from __future__ import annotations

from typing import NamedTuple

from hybrid.options import SimulationOptions

OK, ZENO, NOT_FINITE, TOO_STIFF, GRAZING, WRONG_DIMENSION = range(6)
APART = -1  # a guard that a step does not meet
STATUSES = ("ok", "zeno", "not_finite", "too_stiff", "grazing", "wrong_dimension")


class Limits(NamedTuple):
    """``SimulationOptions`` as kernels take them."""

    relative: float
    absolute: float
    max_step: float
    min_step: float
    max_steps: int
    event_time: float
    guard: float
    max_events: int
    minimum_rate: float

    @staticmethod
    def of(options: SimulationOptions) -> Limits:
        """The options' numbers, in the kernels' order."""
        return Limits(
            float(options.rtol),
            float(options.atol),
            float(options.max_step),
            float(options.min_step),
            int(options.max_steps),
            float(options.event_time_tolerance),
            float(options.guard_tolerance),
            int(options.max_events),
            float(options.minimum_rate),
        )
