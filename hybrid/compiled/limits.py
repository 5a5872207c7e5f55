"""Limits of a simulation as kernels take them, and codes of how it may end."""

from __future__ import annotations

from typing import NamedTuple

from hybrid.options import SimulationOptions

(
    OK, ZENO, NOT_FINITE, TOO_STIFF, GRAZING, WRONG_DIMENSION, INSIDE_GUARD, AMBIGUOUS, STOPPED,
    GUARD_NOT_FINITE, RESET_NOT_FINITE, FULL,
) = range(12)  # fmt: skip
NO_MEETING = -1  # of a guard in a step
STATUSES = (
    "ok", "zeno", "not_finite", "too_stiff", "grazing", "wrong_dimension", "inside_guard",
    "ambiguous", "stopped", "not_finite", "not_finite", "too_many_events",
)  # fmt: skip
WINDOW = 1.0  # [s]: steps and events are counted anew after it
RESOLUTION = 200.0  # points in a duration: a flow or guard that varies between them is not resolved


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
    implicit: bool

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
            options.method == "implicit",
        )
