"""The tracker's loop: reading in, reading out, newest estimate and plan, one motor command."""

import logging
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np

from controller.solve_schedule import SolveSchedule
from controller.track_kernel import TIME
from controller.tracker import Tracker
from runtime.bus import Publisher, Subscriber
from runtime.clock import Clock
from runtime.histogram import LogHistogram
from runtime.messages import MotorCommand, Plan, SensorReading, StateEstimate

LOG = logging.getLogger(__name__)
AGE_RESOLUTION_MS = 0.1
TICK_RESOLUTION_US = 1.0
COUNT_EVERY = 256  # ticks
_NOTHING_SENT = (math.nan,) * 4


class RobotBridge(Protocol):
    """Owns the connection to the robot; nothing else differs between robots."""

    def read(self, clock: Clock, tick: int, stop: Callable[[], bool]) -> list[SensorReading]:
        """Return the readings that came since the last call, in order; the last is the newest.

        In real time it never blocks. In lock step it waits for the one reading of `tick` and
        returns none only when stopped or given up.
        """
        ...

    def write(self, command: MotorCommand) -> None:
        """Send a command to the twelve motors; never blocks."""
        ...

    def close(self) -> None:
        """Let go of the robot; safe to call twice."""
        ...


@dataclass
class TrackerLoop:
    """One run of the tracker: what has arrived so far, and its counts.

    In lock step every message of a tick is waited for, and a plan where `schedule` has one arrive.
    In real time nothing is: the tracker is called each tick with the newest that there is, and
    judges ages itself.

    Attributes:
        tracker: the core.
        bridge: to the robot, real or simulated; the caller's to close.
        readings_out: where readings go for the estimator and the recorder.
        estimates: from the estimator.
        plans: from the planner.
        clock: real or paused.
        schedule: of the solves in lock step.
        stop: polled once a tick and while waiting.
    """

    tracker: Tracker
    bridge: RobotBridge
    readings_out: Publisher[SensorReading]
    estimates: Subscriber[StateEstimate]
    plans: Subscriber[Plan]
    clock: Clock
    schedule: SolveSchedule
    stop: Callable[[], bool]

    def __post_init__(self) -> None:
        self._solves = iter(self.schedule)
        self._solve = next(self._solves)
        self.errors = self.damp_unsent = 0
        self.no_reading = self.no_estimate = self.no_plan = 0
        self._reading: SensorReading | None = None
        self._estimate: StateEstimate | None = None
        self._plan_age_ms = LogHistogram(AGE_RESOLUTION_MS)
        self._plan_arrival_ms = LogHistogram(AGE_RESOLUTION_MS)
        self._estimate_age_ms = LogHistogram(AGE_RESOLUTION_MS)
        self._interval_ms = LogHistogram(AGE_RESOLUTION_MS)
        self._tick_us = LogHistogram(TICK_RESOLUTION_US)
        # Of each tick not counted yet: when it began, the time of its command, when that was sent,
        # begin of its plan, time of its estimate, its end [s]; NaN where there is none.
        self._times: list[tuple[float, float, float, float, float, float]] = []
        self._written_at = math.nan  # the command before those
        self._sent = _NOTHING_SENT

    def run(self) -> dict[str, Any]:
        """Track until `stop()`, then send a damping command.

        Returns:
            The report: mode, ticks, missed, late, lateness_us, tick_us (from the begin of a tick to
            its end; in simulated time 0) and its histogram's counts, commands by status, safety
            reasons counted, plans_accepted, plan_age_ms (from knot 0 to the effect of a command,
            tracking), plan_arrival_ms (from knot 0 to the arrival of a plan; negative in good
            time), estimate_age_ms (at each command, while tracking), command_interval_ms (between
            commands), ticks with no_reading, no_estimate, and ticks with no_plan where one was to
            arrive (lock step), errors, damp_unsent, undecodable.
        """
        while not self.stop():
            self.tick(self.clock.wait_tick())
        self.finish()
        return self.report()

    def tick(self, tick: int) -> None:
        """Serve one tick. Raises nothing: an error is counted and a command sent all the same.

        In lock step the estimate waits for the reading. Else the command goes out first.
        """
        begin, self._sent = self.clock.now(), _NOTHING_SENT
        try:
            readings = self.bridge.read(self.clock, tick, self.stop)
            self.no_reading += not readings
            self._reading = readings[-1] if readings else self._reading
            for reading in readings[:-1]:  # `command` gets the newest
                self.tracker.remember(reading)
            if self.clock.paused:
                for reading in readings:
                    self.readings_out.send(reading)
                self._answer(tick)
            else:
                try:
                    self._answer(tick)
                finally:  # the filter gets every reading, whatever went wrong here
                    for reading in readings:
                        self.readings_out.send(reading)
                if (plan := self.plans.newest()) is not None:
                    self._offer(plan)
        except Exception:
            self.errors += 1
            if self.errors == 1:
                LOG.exception("tracker: an error in tick %d; going on with what there is", tick)
            self._write_safe()
        self._times.append((begin, *self._sent, self.clock.now()))
        if len(self._times) >= COUNT_EVERY:
            self._count()

    def _answer(self, tick: int) -> None:
        """Send the command of this tick; in lock step with the plan that arrives in it."""
        paused = self.clock.paused
        estimate = self._due_estimate(tick) if paused else self.estimates.newest()
        if estimate is None:
            self.no_estimate += 1
        else:
            self._estimate = estimate
        if paused:
            plan = self._due_plan(tick)
            if self.stop():
                return  # half a tick: a wait was cut short
            if plan is not None:
                self._offer(plan)
        now, tracker = self.clock.now(), self.tracker
        self.bridge.write(tracker.command(self._estimate, None, now, self._reading))
        begin = estimated = math.nan
        followed, state = tracker.plans.current, tracker.gate.state
        if followed is not None and state in ("ok", "hold"):
            begin = followed.time
            if self._estimate is not None and state == "ok":  # else its age may be the reason
                estimated = self._estimate.row[TIME]
        self._sent = now, self.clock.now(), begin, estimated

    def _offer(self, plan: Plan) -> None:
        """Offer the tracker a plan."""
        if self.tracker.offer(plan, self.clock.now()):
            self._plan_arrival_ms.add(1e3 * self.tracker.plans.arrival)

    def _count(self) -> None:
        """Count the times of the last ticks."""
        if not self._times:
            return
        begin, now, written, plan, estimate, end = np.array(self._times).T
        self._times.clear()
        before, written = self._written_at, written[~np.isnan(written)]
        for histogram, values in (
            (self._tick_us, 1e6 * (end - begin)),
            (self._interval_ms, 1e3 * np.diff(written, prepend=before)),
            (self._plan_age_ms, 1e3 * (now + self.tracker.options.command_delay - plan)),
            (self._estimate_age_ms, 1e3 * (now - estimate)),
        ):
            histogram.new.extend(values.tolist())
            histogram.settle()
        self._written_at = written[-1] if len(written) else before

    def _due_estimate(self, tick: int) -> StateEstimate | None:
        """The estimate that the latency model has for this tick in lock step."""
        if tick < self.schedule.estimate_age:
            return None
        return self.clock.collect(self.estimates, tick - self.schedule.estimate_age, self.stop)

    def _due_plan(self, tick: int) -> Plan | None:
        """The plan that arrives in this tick in lock step."""
        if tick < self._solve.arrival:
            return None
        plan = self.clock.collect(self.plans, self._solve.estimate, self.stop)
        self._solve = next(self._solves)
        self.no_plan += plan is None
        return plan

    def _write_safe(self) -> None:
        """A command from what there is: its age makes the tracker stand down when errors go on."""
        now = self.clock.now()
        try:
            self.bridge.write(self.tracker.command(self._estimate, None, now, self._reading))
        except Exception:
            self.finish()

    def finish(self) -> None:
        """Send a damping command as the last one; raises nothing."""
        try:
            self.bridge.write(self.tracker.damp(self.clock.now()))
        except Exception as error:
            self.damp_unsent += 1
            if self.damp_unsent == 1:
                LOG.error("tracker: a damping command could not be sent: %s", error)

    def report(self) -> dict[str, Any]:
        """See `run`."""
        self._count()
        statistics = self.clock.statistics()
        return {
            "mode": "paused" if self.clock.paused else "realtime",
            "ticks": statistics.ticks,
            "missed": statistics.missed,
            "late": statistics.late,
            "lateness_us": asdict(statistics.lateness_us),
            "tick_us": asdict(self._tick_us.quantiles()),
            "tick_us_counts": {str(bin): n for bin, n in self._tick_us.counts.items()},
            "commands": dict(self.tracker.commands),
            "safety": dict(self.tracker.gate.counts),
            "plans_accepted": self.tracker.plans.accepted,
            "plan_age_ms": asdict(self._plan_age_ms.quantiles()),
            "plan_arrival_ms": asdict(self._plan_arrival_ms.quantiles()),
            "estimate_age_ms": asdict(self._estimate_age_ms.quantiles()),
            "command_interval_ms": asdict(self._interval_ms.quantiles()),
            "no_reading": self.no_reading,
            "no_estimate": self.no_estimate,
            "no_plan": self.no_plan,
            "errors": self.errors,
            "damp_unsent": self.damp_unsent,
            "undecodable": self.estimates.undecodable + self.plans.undecodable,
        }
