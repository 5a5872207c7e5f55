"""The planner's loop: the newest estimate in, plans and their outlines out."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from time import monotonic, perf_counter, process_time, sleep
from typing import Any

import msgspec
import numpy as np

from controller.planner import Planner, Stop
from controller.solve_schedule import ExpectedDuration, ScheduledSolve, SolveSchedule
from controller.tuning import Tuner
from runtime.bus import Publisher, Subscriber
from runtime.clock import Clock
from runtime.histogram import LogHistogram
from runtime.messages import Command, LineSearch, Plan, PlanOutline, RobotStatus, StateEstimate

PERIOD_S = 1.0 / 30.0  # between two outlines, at least
LOG = logging.getLogger(__name__)
WAIT_S = 0.05  # longest time without a look at the stop flag [s]


class Outlines:
    """Publishes outlines of plans, at most 30 a second by the wall clock; never waits."""

    def __init__(
        self, publisher: Publisher[PlanOutline], now: Callable[[], float] = monotonic
    ) -> None:
        """`now` is the wall clock [s]."""
        self._publisher, self._now = publisher, now
        self._next = -np.inf

    def offer(self, plan: Plan) -> None:
        """Publish the outline of a new plan, if one is due and there is a subscriber."""
        now = self._now()
        if now < self._next or not self._publisher.subscribers():
            return
        self._next = now + PERIOD_S
        self._publisher.send(outline_of(plan))


def outline_of(plan: Plan) -> PlanOutline:
    """The outline of a plan."""
    return PlanOutline(
        id=plan.id, tick=plan.tick, time=plan.time, period=plan.period, states_q=plan.states_q,
        contacts=plan.contacts, cost=plan.cost, solve_s=plan.solve_s, status=plan.status,
        command=plan.command,
    )  # fmt: skip


class SolveGuard:
    """Solves; what a planner raises becomes a plan with status "failed", which no tracker follows.

    Attributes:
        errors: solves that raised.
        first_error: what the first of them raised, in one line; empty without one.
    """

    def __init__(self) -> None:
        """Nothing has failed yet."""
        self.errors, self.first_error = 0, ""

    def plan(self, estimate: StateEstimate, solve: Callable[[], Plan]) -> Plan:
        """The plan that `solve` makes from `estimate`; the first failure is logged."""
        try:
            return solve()
        except Exception as error:
            if self.errors == 0:
                self.first_error = f"{type(error).__name__}: {' '.join(str(error).split())}"
                LOG.exception("planner: no plan from the estimate of tick %d", estimate.tick)
            self.errors += 1
            return no_plan(estimate)


class SolveTimes:
    """Durations of solves, and the one to expect next.

    Attributes:
        expected: duration of the next solve.
    """

    def __init__(self, first_guess: float) -> None:
        """`first_guess` is expected before the first solve [s]."""
        self.expected = ExpectedDuration(first_guess)
        self.histogram = LogHistogram(10.0)
        self.begin = self.end = perf_counter()

    def record(self, duration: float) -> None:
        """Count a solve of `duration` [s]."""
        self.histogram.add(1e6 * duration)
        self.expected.add(duration)
        self.end = perf_counter()

    def report(self) -> dict[str, Any]:
        """Solves, their quantiles [ms] and rate [1/s]."""
        micro = asdict(self.histogram.quantiles())
        elapsed = self.end - self.begin
        return {
            "solves": self.histogram.count,
            "solve_ms": {name: 1e-3 * value for name, value in micro.items()},
            "rate_hz": self.histogram.count / elapsed if elapsed > 0.0 else 0.0,
            "expected_ms": 1e3 * self.expected.value,
        }


@dataclass
class PlannerLoop:
    """One run of the planner, until `stop()`.

    Paused: one plan for every solve of `schedule`, and no decision by the wall clock.
    Real time: always from the newest estimate, predicted ahead by its age and the expected solve
    time; each better trajectory is published at once. After `time_limit` [s] a solve tries fewer
    candidates and ends with this iteration. It takes the time of `share` cores on average.

    An exception from the planner is counted (`SolveGuard`). Line searches go to `searches`, each
    after its plan. Commands come from `driver` before each solve; a script's own are published on
    `script`, for the recording.
    `outlines` are offered every plan but those that another of the same solve replaces; `tuner`
    looks for tunings before each solve. Once one of `statuses` says that the robot is to sit down,
    a driven robot stands.
    """

    planner: Planner
    estimates: Subscriber[StateEstimate]
    plans: Publisher[Plan]
    clock: Clock
    schedule: SolveSchedule
    stop: Stop
    time_limit: float = 0.0
    share: float = math.inf
    searches: Publisher[LineSearch] | None = None
    driver: Subscriber[Command] | None = None
    script: Publisher[Command] | None = None
    outlines: Outlines | None = None
    tuner: Tuner | None = None
    statuses: Subscriber[RobotStatus] | None = None

    def __post_init__(self) -> None:
        self._guard, self._statuses = SolveGuard(), Counter[str]()
        self._times = SolveTimes(first_guess=0.5 * self.time_limit or 0.01)
        self._sequence = -1  # of the script's command that was published last

    def run(self) -> dict[str, Any]:
        """Plan.

        Returns:
            The report: solves, solve_ms, rate_hz, statuses, errors, first_error, undecodable
            frames, tunings where some came, and the planner's own statistics.
        """
        solves = iter(self.schedule)
        while not self.stop():
            solve = next(solves) if self.clock.paused else None
            if solve is not None:
                estimate = self.clock.collect(self.estimates, solve.estimate, self.stop)
            else:
                estimate = self.estimates.wait(WAIT_S)
            self.take_commands()
            if estimate is not None:
                begin, used = perf_counter(), process_time()
                self.publish(self.plan(estimate, solve))
                # Once a quota is used up, Linux stops the tracker too.
                rest = (process_time() - used) / self.share - (perf_counter() - begin)
                sleep(min(max(0.0, rest), WAIT_S))
        return self.report()

    def take_commands(self) -> None:
        """Hand over what came from the driver, and the robot's end; silence is noticed too."""
        commands = self.planner.commands
        if commands is None:
            return
        if self.statuses is not None and any(s.is_ending for s in self.statuses.all()):
            commands.end()
        if self.driver is not None:
            now = self.clock.now()
            for command in self.driver.all():
                commands.offer(command, now)
            commands.look(now)

    def plan(self, estimate: StateEstimate, solve: ScheduledSolve | None) -> Plan:
        """Plan from `estimate`: the scheduled `solve`, or in real time without one."""
        if self.tuner is not None:
            self.tuner.look()
        begin, errors = perf_counter(), self._guard.errors
        if solve is not None:
            work = partial(solve_in_lock_step, self.planner, estimate, solve)
        else:
            lead = max(0.0, self.clock.now() - estimate.time) + self._times.expected.value
            deadline = begin + self.time_limit
            work = partial(_solve_in_time, self.planner, estimate, lead, self.plans, deadline)
        plan = self._guard.plan(estimate, work)
        if self._guard.errors == errors:
            self._times.record(perf_counter() - begin)
        return plan

    def publish(self, plan: Plan) -> None:
        """Send a plan, then its line search, its outline and the script's command."""
        self._statuses[plan.status] += 1
        self.plans.send(plan)
        search = self.planner.line_search
        # A search left from before an exception belongs to no plan.
        if self.searches is not None and search is not None and search.tick == plan.tick:
            self.searches.send(search)
        if self.outlines is not None:
            self.outlines.offer(plan)
        if self.script is not None and self.planner.commands is not None:
            self._send_command(self.planner.commands.newest, self.script)

    def _send_command(self, command: Command | None, script: Publisher[Command]) -> None:
        """Publish the command in force unless it was the last one."""
        if command is not None and command.sequence != self._sequence:
            script.send(command)
            self._sequence = command.sequence

    def report(self) -> dict[str, Any]:
        """See `run`."""
        counts: dict[str, Any] = {
            "errors": self._guard.errors, "first_error": self._guard.first_error,
            "undecodable": self.estimates.undecodable,
        }  # fmt: skip
        if self.planner.commands is not None:
            counts["commands"] = dict(self.planner.commands.counts)
        if self.driver is not None:
            counts["commands"]["undecodable"] = self.driver.undecodable
        if self.tuner is not None and self.tuner.counts:
            counts["tunings"] = dict(self.tuner.counts)
        statuses = {"statuses": dict(self._statuses)}
        return {**self._times.report(), **statuses, **counts, **self.planner.statistics()}


def no_plan(estimate: StateEstimate) -> Plan:
    """The shortest plan that there is, with status "failed"."""
    return Plan(
        id=0, tick=estimate.tick, time=estimate.time, period=1.0, states_q=np.zeros((2, 19)),
        states_v=np.zeros((2, 18)), inputs=np.zeros((1, 12)), gains=np.zeros((1, 12, 36)),
        contacts=np.zeros((1, 4)), cost=float("inf"), iterations=0, solve_s=0.0, status="failed",
    )  # fmt: skip


def solve_in_lock_step(planner: Planner, estimate: StateEstimate, solve: ScheduledSolve) -> Plan:
    """Solve once; the plan is the same in every run: no wall clock is in it."""
    plan = planner.plan_from(estimate, solve.lead)
    return msgspec.structs.replace(plan, solve_s=solve.duration)


def _solve_in_time(
    planner: Planner, estimate: StateEstimate, lead: float, plans: Publisher[Plan], deadline: float
) -> Plan:
    """Solve once for the state `lead` [s] after the estimate; late after `deadline` [s]."""
    begin = perf_counter()
    plan = planner.plan_from(estimate, lead, lambda: perf_counter() > deadline, plans.send)
    return msgspec.structs.replace(
        plan, round_trip_s=planner.round_trip_s, solve_s=perf_counter() - begin
    )
