"""Limits of a simulation as kernels take them, and codes of how it may end."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from saltation.kernels import inlined_kernel
from saltation.options import SimulationOptions

(
    OK, ZENO, NOT_FINITE, TOO_STIFF, GRAZING, WRONG_DIMENSION, INSIDE_GUARD, AMBIGUOUS, STOPPED,
    GUARD_NOT_FINITE, RESET_NOT_FINITE, FULL,
) = range(12)  # fmt: skip
NO_MEETING = -1  # of a guard in a step
STATUSES = (
    "ok", "zeno", "not_finite", "too_stiff", "grazing", "wrong_dimension", "inside_guard",
    "ambiguous", "stopped", "not_finite", "not_finite", "too_many_events",
)  # fmt: skip
RESOLUTION = 200.0  # points in a duration: a flow or guard that varies between them is not resolved
EPSILON = np.finfo(np.float64).eps


class Limits(NamedTuple):
    """``SimulationOptions`` as kernels take them."""

    relative: float
    absolute: float
    max_step: float
    max_steps: int
    guard: float
    max_events: int
    zeno_events: int
    implicit: bool

    @staticmethod
    def of(options: SimulationOptions) -> Limits:
        """The options' numbers, in the kernels' order."""
        return Limits(
            float(options.rtol),
            float(options.atol),
            float(options.max_step),
            int(options.max_steps),
            float(options.guard_tolerance),
            int(options.max_events),
            int(options.zeno_events),
            options.method == "implicit",
        )


@inlined_kernel
def time_tolerance(t, h):
    """Accuracy that a time [s] within h seconds after t can have."""
    return 1e-13 * h + 4.0 * EPSILON * abs(t)
