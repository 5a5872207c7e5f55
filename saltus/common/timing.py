"""Timing a call many times."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

TICK_US = 1000.0  # what a core at 1 kHz must stay below


def time_calls(call: Callable[[int], Any], count: int) -> dict[str, float]:
    """Call ``call(k)`` for k = 0, 1, ... and return quantiles of its duration [us]."""
    durations = np.empty(count)
    for k in range(count):
        begin = perf_counter()
        call(k)
        durations[k] = perf_counter() - begin
    p50, p99, p999 = 1e6 * np.percentile(durations, [50.0, 99.0, 99.9])
    return {"p50_us": float(p50), "p99_us": float(p99), "p999_us": float(p999)}
