"""Plans of equal processor time: how hard each planner works within a budget, measured here."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final

import msgspec
import numpy as np
from msgspec.structs import replace

from saltus.configuration.launch import LaunchConfig
from saltus.launch.lock_step import LockStep

WALK_S: Final = 1.5  # of which plans are timed
START_S: Final = 0.5  # of it that does not count: the robot only begins to walk
MOST_EFFORT: Final = 4096
CLOSE: Final = 0.05  # share of an effort to which it is found

Measure = Callable[[LaunchConfig], float]


class Fit(msgspec.Struct, frozen=True):
    """Fit of a planner to a budget.

    Attributes:
        effort: from 1 on; a larger one takes no less time. None of a planner whose options have no
            `with_effort`: it always does the same work.
        processor_ms: what a plan takes of the processor, median.
    """

    effort: int | None
    processor_ms: float

    def applied(self, config: LaunchConfig) -> LaunchConfig:
        """The launch at this effort; in lock step, its plans take as long as they did here."""
        if self.effort is not None:
            config = _with_effort(config, self.effort)
        timing = replace(config.timing, solve=1e-3 * self.processor_ms)
        return replace(config, timing=timing)


def fit(config: LaunchConfig, budget_ms: float, measure: Measure | None = None) -> Fit:
    """The greatest effort whose plans take no more than the budget, or the least there is.

    Args:
        config: of a launch in lock step, of which the beginning is run.
        budget_ms: processor time that a plan may take, median.
        measure: gives the time of a launch's plans, in place of `processor_ms`.
    """
    measure = measure or processor_ms
    if not hasattr(config.planner_options, "with_effort"):
        return Fit(None, measure(config))
    time_of = cache(lambda effort: measure(_with_effort(config, effort)))
    low, high = 1, 2
    while high <= MOST_EFFORT and time_of(low) <= budget_ms and time_of(high) <= budget_ms:
        low, high = high, 2 * high
    while high - low > max(1, CLOSE * low) and time_of(low) <= budget_ms:
        middle = (low + high) // 2
        low, high = (middle, high) if time_of(middle) <= budget_ms else (low, middle)
    return Fit(low, time_of(low))


def processor_ms(config: LaunchConfig) -> float:
    """Median processor time of a plan in a launch's first steps, undisturbed [ms]."""
    run = LockStep(replace(config, perturbations=(), duration=WALK_S))
    run.run()
    begun = round(len(run.processor_ms) * START_S / WALK_S)
    return float(np.median(run.processor_ms[begun:]))


def _with_effort(config: LaunchConfig, effort: int) -> LaunchConfig:
    options: Any = config.planner_options
    return config.with_planner_options(options.with_effort(effort))
