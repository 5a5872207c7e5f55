"""Timing: contestants do the same work in turns, so that other load on the machine hits them all.

A benchmark names its contestants and reads the times; rounds, order, warm-up, quantiles and ratios
are here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from time import monotonic, perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.common.console import say
from saltus.common.errors import BadRequest

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

    def call(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call, append the duration, return the result."""
        begin = self.clock()
        result = function(*arguments)
        self.add(name, [self.clock() - begin])
        return result

    def wrap(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, timed at every call."""
        self.add(name, [])
        return lambda *arguments: self.call(name, function, *arguments)

    def quantiles(self, name: str, unit: float, **percents: float) -> dict[str, float]:
        """Percentiles of one thing's durations, see `quantiles`."""
        return quantiles(self.seconds[name], unit, **percents)

    def median(self, name: str, unit: float = 1.0) -> float:
        """Median of one thing's durations."""
        return unit * float(np.median(self.seconds[name]))

    def ratio(self, name: str, other: str) -> float:
        """Median of one thing over the median of another."""
        return self.median(name) / self.median(other)


class Contestant(NamedTuple):
    """One who takes part.

    Attributes:
        name: its own in the contest.
        call: does the work of round k = 0, 1, ... and returns its result.
        work: items of work in a call; durations are per item.
    """

    name: str
    call: Callable[[int], Any]
    work: int = 1


class Contest:
    """Contestants that take turns, in reverse order in every other round."""

    def __init__(
        self, contestants: Sequence[Contestant], clock: Callable[[], float] = perf_counter
    ) -> None:
        self.contestants, self._clock = tuple(contestants), clock

    def warm_up(self, rounds: int = 1) -> dict[str, Any]:
        """Call everyone without timing; the results of the last round, by name."""
        results: dict[str, Any] = {}
        self._run(rounds, lambda contestant, k, result: results.update({contestant.name: result}))
        return results

    def measure(
        self, rounds: int, observe: Callable[[Contestant, int, Any], None] | None = None
    ) -> Times:
        """Time `rounds` rounds; `observe` is given every result, outside of the measured time.

        An exception of a contestant ends the contest, with a note of who it was.
        """
        return self._run(rounds, observe)

    def measure_within(self, seconds: float, fewest: int, most: int) -> Times:
        """Time as many rounds as take about `seconds` [s], after one or two that warm up.

        The number follows from the last warm-up; the first one is slower, so that there is a second
        where there is time.
        """
        for _ in range(2):
            length = sum(map(sum, self._run(1).seconds.values()))
            if length >= seconds:
                break
        return self._run(int(np.clip(seconds / length, fewest, most)))

    def _run(
        self, rounds: int, observe: Callable[[Contestant, int, Any], None] | None = None
    ) -> Times:
        times, shown = Times(self._clock), monotonic()
        for k in range(rounds):
            if monotonic() - shown > PROGRESS_S:  # a line: a bar redraws itself beside the work
                shown = monotonic()
                say(f"round {k + 1} of {rounds}")
            for contestant in self.contestants[:: -1 if k % 2 else 1]:
                begin = self._clock()
                try:
                    result = contestant.call(k)
                except Exception as error:
                    error.add_note(f"contestant {contestant.name}, round {k + 1}")
                    raise
                times.add(contestant.name, [(self._clock() - begin) / contestant.work])
                if observe is not None:
                    observe(contestant, k, result)
        return times


def largest_differences(
    results: Mapping[str, NDArray[np.float64]], reference: str, at_most: float,
    exempt: Collection[str] = (),
) -> dict[str, float]:  # fmt: skip
    """Largest difference of each contestant's result from the first rows of the reference's.

    Raises:
        BadRequest: a contestant that is not exempt differs by more than `at_most`, or by NaN.
    """
    differences = {}
    for name, result in results.items():
        difference = float(np.max(np.abs(result - results[reference][: len(result)])))
        if name not in exempt and not difference <= at_most:
            raise BadRequest(
                f"{name} ends {difference:.2g} away from {reference}, at most {at_most:g} is"
                " accepted: times of different results are not compared"
            )
        differences[name] = difference
    return differences
