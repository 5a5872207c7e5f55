"""Makes a trace of a trial from its messages, whoever hands them in."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from controller.driving.commands import Goal, ScriptClock
from controller.gaits import GAITS, Gait
from runtime.messages import (
    Command,
    GroundTruth,
    LineSearch,
    MotorCommand,
    Plan,
    Push,
    RobotStatus,
)
from saltus.configuration.launch import TICK_S, LaunchConfig
from saltus.launch.assembly import event_times, gait_clock
from saltus.launch.lock_step import Tick
from saltus.metrics.driven_goal import GoalWatch
from saltus.metrics.touchdowns import TouchdownFinder
from saltus.recording.start_axes import StartAxes
from saltus.trace.trace import Array, Trace

EVERY_TICKS = 10  # a trace keeps one state in so many ticks


class TraceRecorder:
    """Takes the messages of one trial; messages of one topic must come in their order.

    States and plans are kept as the robot's start sees them.

    The plan that is kept is the first one from an estimate that could know of the first
    perturbation: the reading of the tick at which that begins is still free of it.
    """

    def __init__(self, config: LaunchConfig, events: list[float] | None = None) -> None:
        """Of a trial with this configuration.

        Args:
            config: of the trial.
            events: when perturbations began [s], where the configuration does not say.

        Raises:
            BadRequest: an event names a phase that the reference does not have.
        """
        self._events = event_times(config) if events is None else events
        self._first_event = min((round(at / TICK_S) for at in self._events), default=None)
        self._gait = gait_clock(config)
        self._seen = StartAxes(config).to_local
        self._newest: GroundTruth | None = None
        self._push = -1  # number of the last push by hand
        self._origin: float | None = None  # what clocks said at tick 0 [s]; 0 in lock step
        self._due = 0  # first tick of which the state is wanted
        self._states: list[tuple[float, Array, Array]] = []
        self._goal_watch = GoalWatch(config) if config.is_driven else None
        self._goals: list[tuple[float, Goal]] = []
        self._touchdowns = TouchdownFinder()
        self._solve_ms: list[float] = []
        self._statuses, self._commands = Counter[str](), Counter[str]()
        self._plan: Plan | None = None
        self._search: LineSearch | None = None

    def add(self, tick: Tick) -> None:
        """Take what happened in one tick of a run in lock step."""
        self.add_truth(tick.truth)
        self.add_command(tick.command)
        if tick.plan is not None:
            self.add_plan(tick.plan)
        if tick.search is not None:
            self.add_search(tick.search)

    def add_truth(self, truth: GroundTruth) -> None:
        """Take a true state in."""
        self._newest = truth = self._seen(truth)
        if self._origin is None:
            self._origin = truth.time - TICK_S * truth.tick
        self._touchdowns.add(truth.time - self._origin, truth.q, truth.v, truth.contact)
        if truth.tick >= self._due:
            self._due = truth.tick - truth.tick % EVERY_TICKS + EVERY_TICKS
            self._states.append((truth.time - self._origin, truth.q, truth.contact))
        if self._goal_watch is not None:
            goal = self._goal_watch.at(truth.time)
            if not self._goals or goal != self._goals[-1][1]:
                self._goals.append((truth.time - self._origin, goal))

    def add_push(self, push: Push) -> None:
        """Note a push by hand at the newest state; one that comes again is the same."""
        if self._newest is None or push.sequence == self._push:
            return
        self._push = push.sequence
        self._events = sorted([*self._events, TICK_S * self._newest.tick])
        self._first_event = round(self._events[0] / TICK_S)

    def add_driver(self, command: Command) -> None:
        """Take in what whoever drives the robot asks for."""
        if self._goal_watch is not None:
            self._goal_watch.offer(command)

    def add_status(self, status: RobotStatus) -> None:
        """Take in what a robot's bridge lets it do."""
        if self._goal_watch is not None:
            self._goal_watch.note(status)

    def add_command(self, command: MotorCommand) -> None:
        """Count a motor command."""
        self._commands[command.status] += 1

    def add_plan(self, plan: Plan) -> None:
        """Count a plan."""
        self._statuses[plan.status] += 1
        self._solve_ms.append(1e3 * plan.solve_s)
        whole = len(plan.inputs) > 0  # a recording keeps the knots of some plans alone
        if self._plan is None and plan.status != "failed" and self._sees_event(plan.tick) and whole:
            self._plan = self._seen(plan)

    def add_search(self, search: LineSearch) -> None:
        """Take the line search of a solve in."""
        if self._search is None and self._sees_event(search.tick):
            self._search = search

    def trace(self, solve_ms: Sequence[float] | None = None) -> Trace:
        """What has been taken in.

        Args:
            solve_ms: how long the solves took, (S,) [ms], where the plans do not say: in lock step.
        """
        time = np.array([state[0] for state in self._states])
        return Trace(
            time=time,
            q=_stack([state[1] for state in self._states], 19),
            contact=_stack([state[2] for state in self._states], 4),
            planned=planned_contacts(self._gait, time),
            solve_ms=np.array(self._solve_ms if solve_ms is None else solve_ms),
            statuses=dict(self._statuses), commands=dict(self._commands), events=self._events,
            goals=_stack([goal_row(*each) for each in self._goals], 5),
            touchdowns=self._touchdowns.touchdowns(),
            **self._kept_plan(), **self._kept_search(),
        )  # fmt: skip

    def _sees_event(self, tick: int) -> bool:
        return self._first_event is not None and tick > self._first_event

    def _kept_plan(self) -> dict[str, Any]:
        plan = self._plan
        if plan is None:
            return {}
        return {"plan_time": plan.time - (self._origin or 0.0), "plan_period": plan.period,
                "plan_contacts": plan.contacts, "plan_q": plan.states_q}  # fmt: skip

    def _kept_search(self) -> dict[str, Any]:
        search = self._search
        return {} if search is None else {"step_sizes": search.step_sizes, "costs": search.costs}


def goal_row(since: float, goal: Goal) -> list[float]:
    """A goal as `Trace.goals` has it; one to stand is one of no velocity."""
    velocity = (0.0,) * 3 if goal.gait == "stand" else goal[:3]
    return [since, *velocity, float(list(GAITS).index(goal.gait))]


def planned_contacts(gait: Gait | ScriptClock | None, times: Array) -> Array:
    """Contacts of a gait's schedule at ``times`` (T,) [s]: (T, 4), all ones without a gait."""
    if gait is None:
        return np.ones((len(times), 4))
    return _stack([gait.contacts(float(time)) for time in times], 4)


def _stack(rows: Sequence[Any], width: int) -> Array:
    return np.array(rows, dtype=np.float64).reshape(len(rows), width)
