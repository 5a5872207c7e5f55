"""Timing: calls do the same work in turns, so that other load on the machine hits them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic, perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.common.console import say

MS, US = 1e3, 1e6  # in a second
PROGRESS_S = 5.0  # between two lines of progress


def quantiles(
    seconds: Sequence[float] | NDArray[np.float64], unit: float, **percents: float
) -> dict[str, float]:
    """Percentiles of durations [s] in a unit, by key: ``quantiles(seconds, MS, ms_p50=50.0)``."""
    values = unit * np.percentile(seconds, list(percents.values()))
    return dict(zip(percents, values.tolist(), strict=True))


class Times:
    """Durations of named things, in the order in which the names came.

    Attributes:
        seconds: name -> durations [s].
        clock: what the time is read from [s].
    """

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self.seconds: dict[str, list[float]] = {}
        self.clock = clock

    def add(self, name: str, seconds: Iterable[float]) -> None:
        """Append durations [s]."""
        self.seconds.setdefault(name, []).extend(seconds)

    def call(
        self, name: str, function: Callable[..., Any], *arguments: Any, **keywords: Any
    ) -> Any:
        """Call, append the duration, return the result."""
        begin = self.clock()
        result = function(*arguments, **keywords)
        self.add(name, [self.clock() - begin])
        return result

    def wrap(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, timed at every call."""
        self.add(name, [])
        return lambda *arguments, **keywords: self.call(name, function, *arguments, **keywords)

    def watch(self, owner: Any, method: str, name: str = "") -> None:
        """Time a method of an object from now on, under its own name or another."""
        setattr(owner, method, self.wrap(name or method, getattr(owner, method)))

    def quantiles(self, name: str, unit: float, **percents: float) -> dict[str, float]:
        """Percentiles of one thing's durations, see `quantiles`."""
        return quantiles(self.seconds[name], unit, **percents)

    def median(self, name: str, unit: float = 1.0) -> float:
        """Median of one thing's durations."""
        return unit * float(np.median(self.seconds[name]))

    def ratio(self, name: str, other: str) -> float:
        """Median of one thing over the median of another."""
        return self.median(name) / self.median(other)


def take_turns(
    calls: Mapping[str, Callable[[int], Any]], rounds: int,
    clock: Callable[[], float] = perf_counter,
) -> Times:  # fmt: skip
    """Times of calls with the number of the round, in reverse order in every other round."""
    times, shown = Times(clock), monotonic()
    for k in range(rounds):
        if monotonic() - shown > PROGRESS_S:  # a line: a bar redraws itself beside the work
            shown = monotonic()
            say(f"round {k + 1} of {rounds}")
        for name in list(calls)[:: -1 if k % 2 else 1]:
            times.call(name, calls[name], k)
    return times


def take_turns_for(
    seconds: float, calls: Mapping[str, Callable[[int], Any]], fewest: int, most: int,
    clock: Callable[[], float] = perf_counter,
) -> Times:  # fmt: skip
    """Times of as many rounds as take about `seconds` [s], after one or two that warm up.

    The number follows from the last warm-up; the first one is slower, so that there is a second
    where there is time.
    """
    for _ in range(2):
        length = sum(map(sum, take_turns(calls, 1, clock).seconds.values()))
        if length >= seconds:
            break
    return take_turns(calls, int(np.clip(seconds / length, fewest, most)), clock)
