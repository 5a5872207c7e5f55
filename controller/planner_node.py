"""The planner's thin loop: the newest estimate in, plans out, as fast as it solves."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from time import perf_counter
from typing import Any, Protocol

import msgspec
import numpy as np

from runtime.bus import Publisher, Subscriber
from runtime.clock import Clock
from runtime.histogram import LogHistogram
from runtime.messages import LineSearch, Plan, StateEstimate

WAIT_S = 0.05  # longest time without a look at the stop flag [s]
SUBSCRIBER_TIMEOUT_S = 60.0
FORGETTING = 0.05  # share of a new solve time in the expected one, when it is the shorter [-]

Stop = Callable[[], bool]


class Planner(Protocol):
    """Anything that turns estimates into plans.

    Attributes:
        line_search: of the last solve; None where it searched no line.
        round_trip_s: of the last solve, spent on asking a physics server, its physics apart [s].
    """

    line_search: LineSearch | None

    @property
    def round_trip_s(self) -> float:
        """See above."""
        ...

    def solve(
        self,
        estimate: StateEstimate,
        lead: float = 0.0,
        should_stop: Stop | None = None,
        on_plan: Callable[[Plan], None] | None = None,
    ) -> Plan:
        """Plan from the state `lead` seconds after the estimate."""
        ...

    def statistics(self) -> dict[str, Any]:
        """What the report says besides, plain values only."""
        ...


class SolveTimes:
    """How long solves took, and how long the next one may take."""

    def __init__(self, first_guess: float) -> None:
        """`first_guess` is expected before the first solve [s]."""
        self.expected = first_guess
        self.histogram = LogHistogram(10.0)
        self.begin = self.end = perf_counter()

    def record(self, duration: float) -> None:
        """Count a solve of `duration` [s]; the expectation rises fast and falls slowly."""
        self.histogram.add(1e6 * duration)
        gap = duration - self.expected
        self.expected += gap * (0.3 if gap > 0.0 else FORGETTING)
        self.end = perf_counter()

    def report(self) -> dict[str, Any]:
        """Solves, their quantiles [ms] and rate [1/s]."""
        micro = asdict(self.histogram.quantiles())
        elapsed = self.end - self.begin
        return {
            "solves": self.histogram.count,
            "solve_ms": {name: 1e-3 * value for name, value in micro.items()},
            "rate_hz": self.histogram.count / elapsed if elapsed > 0.0 else 0.0,
            "expected_ms": 1e3 * self.expected,
        }


def run(
    planner: Planner,
    estimates: Subscriber[StateEstimate],
    plans: Publisher[Plan],
    clock: Clock,
    every_ticks: int,
    stop: Stop,
    time_limit: float = 0.0,
    subscribers: int = 0,
    searches: Publisher[LineSearch] | None = None,
) -> dict[str, Any]:
    """Plan until `stop()`.

    Paused: one plan for every `every_ticks`-th estimate, and no decision by the wall clock.
    Real time: always from the newest estimate, predicted ahead by the expected solve time; each
    better trajectory is published at once, and a solve is abandoned after `time_limit` [s].

    An exception from the planner is counted and logged once; the plan of that solve says "failed",
    which no tracker follows. Line searches go to `searches`, each after its plan.

    Returns:
        The report: solves, solve_ms, rate_hz, statuses, errors, undecodable frames, and the
        planner's own statistics.
    """
    errors = 0
    times, statuses = SolveTimes(first_guess=0.5 * time_limit or 0.01), Counter[str]()
    plans.wait_for_subscribers(subscribers, SUBSCRIBER_TIMEOUT_S, stop)
    tick = 0
    while not stop():
        if clock.paused:
            estimate = clock.collect(estimates, tick, stop)
            tick += every_ticks
        else:
            estimate = estimates.wait(WAIT_S)
        if estimate is None:
            continue
        try:
            limit = 0.0 if clock.paused else time_limit
            plan = _timed_solve(planner, estimate, plans, times, limit)
        except Exception:
            if errors == 0:
                logging.exception("planner: no plan from the estimate of tick %d", estimate.tick)
            errors += 1
            plan = no_plan(estimate)
        statuses[plan.status] += 1
        plans.send(plan)
        if searches is not None:
            _send_search(planner.line_search, plan, searches)
    counts = {"errors": errors, "undecodable": estimates.undecodable}
    return {**times.report(), "statuses": dict(statuses), **counts, **planner.statistics()}


def _send_search(search: LineSearch | None, plan: Plan, searches: Publisher[LineSearch]) -> None:
    """Publish the line search of this plan; one left from before an exception is not its own."""
    if search is not None and search.tick == plan.tick:
        searches.send(search)


def no_plan(estimate: StateEstimate) -> Plan:
    """The shortest plan that there is, with status "failed"."""
    return Plan(
        id=0, tick=estimate.tick, time=estimate.time, period=1.0, states_q=np.zeros((2, 19)),
        states_v=np.zeros((2, 18)), inputs=np.zeros((1, 12)), gains=np.zeros((1, 12, 36)),
        contacts=np.zeros((1, 4)), cost=float("inf"), iterations=0, solve_s=0.0, status="failed",
    )  # fmt: skip


def _timed_solve(
    planner: Planner,
    estimate: StateEstimate,
    plans: Publisher[Plan],
    times: SolveTimes,
    time_limit: float,
) -> Plan:
    """Solve once; a `time_limit` of 0 means lock step, where time does not count."""
    begin = perf_counter()
    if time_limit > 0.0:
        plan = planner.solve(
            estimate, times.expected, lambda: perf_counter() - begin > time_limit, plans.send
        )
        seconds = perf_counter() - begin
        plan = msgspec.structs.replace(plan, solve_s=seconds, round_trip_s=planner.round_trip_s)
    else:  # the plan must be the same in every run: no wall clock in it
        plan = planner.solve(estimate)
    times.record(perf_counter() - begin)
    return plan
