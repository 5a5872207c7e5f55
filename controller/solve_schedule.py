"""Begin and end of solves: in real time expected, in lock step given by the latency model."""

import math
from collections.abc import Iterator
from typing import NamedTuple

TICK_S = 0.001  # length of a tick of the stack [s]
RISE, FALL = 0.3, 0.05  # share of a longer, or shorter, solve in the expected duration [-]


class ExpectedDuration:
    """Expected duration of the next solve: rises fast and falls slowly.

    Attributes:
        value: expected duration [s].
    """

    def __init__(self, first: float) -> None:
        """Expect `first` [s] before the first solve."""
        self.value = first

    def add(self, duration: float) -> None:
        """Learn from a solve of `duration` [s]."""
        gap = duration - self.value
        self.value += gap * (RISE if gap > 0.0 else FALL)


class ScheduledSolve(NamedTuple):
    """One solve in lock step."""

    estimate: int  # tick of the estimate that it starts from
    start: int  # tick in which it begins
    arrival: int  # tick in which the tracker has the plan
    duration: float  # [s]
    lead: float  # from the estimate to the arrival of the plan [s]


class SolveSchedule:
    """The solves of a run in lock step, in order; every iteration over it starts from the first.

    A solve begins when the one before has ended, and at most once every `every` ticks. It starts
    from the newest estimate, which is `estimate_age` ticks old. Planner and tracker go through the
    same schedule, so that neither waits for a plan that does not come.
    """

    def __init__(self, every: int, duration: float = 0.0, estimate_age: int = 0) -> None:
        """Schedule solves of `duration` [s]."""
        self.every, self.duration, self.estimate_age = every, duration, estimate_age

    def __iter__(self) -> Iterator[ScheduledSolve]:
        """Yield the solves; there is no last one."""
        start, age, duration = self.estimate_age, self.estimate_age, self.duration
        lead = age * TICK_S + duration
        while True:
            arrival = start + math.ceil(duration / TICK_S - 1e-6)
            yield ScheduledSolve(start - age, start, arrival, duration, lead)
            start = max(arrival, start + self.every)
