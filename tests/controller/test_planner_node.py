"""The planner's loop: one plan per asked tick, line searches beside, a planner that raises."""

from types import SimpleNamespace

import numpy as np

from controller import planner_node
from controller.driving.commands import CommandIntake, Goal
from controller.options import DriveOptions
from controller.planner import Planner as BasePlanner
from controller.planner_node import PlannerLoop, no_plan
from controller.solve_schedule import SolveSchedule
from runtime.clock import PausedClock
from runtime.messages import Command, LineSearch
from tests.controller.tracker_messages import estimate, standing

EVERY = SolveSchedule(10)


class Estimates:
    """Answers lock step with the estimate of any tick."""

    undecodable = 0

    def wait_for(self, predicate, timeout_s, stop=None):
        estimates = (estimate(k, *standing()) for k in range(0, 1000, 10))
        return next(each for each in estimates if predicate(each))


class Plans:
    """Keeps what was sent and stops the loop after three plans."""

    def __init__(self):
        self.sent = []

    def send(self, plan):
        self.sent.append(plan)

    def full(self):
        return len(self.sent) == 3


class Planner(BasePlanner):
    """Raises at tick 10, otherwise gives a plan of its tick, and a line search at tick 0."""

    line_search: LineSearch | None = None
    round_trip_s = 0.0
    commands = None

    def statistics(self):
        return {}

    def solve(self, estimate, lead=0.0, out_of_time=None, on_plan=None):
        if estimate.tick == 10:
            raise FloatingPointError("tick 10")
        self.line_search = search(estimate.tick) if estimate.tick == 0 else None
        return no_plan(estimate)


def search(tick):
    return LineSearch(tick=tick, time=1e-3 * tick, step_sizes=np.ones(1), costs=np.ones((1, 1)))


def test_the_planner_rests_until_its_share_of_a_quota_is_back(monkeypatch):
    """Each solve takes 10 ms of the processor and none of the wall clock."""
    rests, used = [], iter(0.01 * np.arange(9))
    monkeypatch.setattr(planner_node, "perf_counter", lambda: 0.0)
    monkeypatch.setattr(planner_node, "process_time", lambda: next(used))
    monkeypatch.setattr(planner_node, "sleep", rests.append)
    plans = Plans()
    PlannerLoop(
        Planner(), Estimates(), plans, PausedClock(1e-3), EVERY, plans.full, share=0.4
    ).run()
    np.testing.assert_allclose(rests, 0.025)


def test_every_asked_tick_gets_a_plan_even_when_the_planner_raises(caplog):
    plans = Plans()
    report = PlannerLoop(Planner(), Estimates(), plans, PausedClock(1e-3), EVERY, plans.full).run()
    assert [plan.tick for plan in plans.sent] == [0, 10, 20]
    assert report["errors"] == 1 and report["solves"] == 2
    assert plans.sent[1].status == "failed" and "tick 10" in caplog.text


def test_a_line_search_goes_out_with_the_plan_that_made_it_and_never_again():
    plans, searches = Plans(), Plans()
    clock = PausedClock(1e-3)
    PlannerLoop(Planner(), Estimates(), plans, clock, EVERY, plans.full, searches=searches).run()
    assert searches.sent == [search(0)] and len(plans.sent) == 3


class Statuses:
    """Statuses of a bridge; from the second look on the robot is to sit down."""

    def __init__(self):
        self.looks = 0

    def all(self):
        self.looks += 1
        return [SimpleNamespace(is_ending=ending) for ending in (False, self.looks >= 2)]


def test_a_driven_robot_that_is_to_sit_down_stands_from_then_on():
    plans, planner, goals = Plans(), Planner(), []
    planner.commands = CommandIntake(DriveOptions())
    planner.commands.offer(
        Command(sequence=0, time=0.0, forward=0.3, left=0.0, yaw_rate=0.0, gait="trot"), 0.0
    )

    def solve(estimate, lead=0.0, out_of_time=None, on_plan=None):
        goals.append(planner.commands.goal())
        return no_plan(estimate)

    planner.solve = solve
    clock = PausedClock(1e-3)
    PlannerLoop(planner, Estimates(), plans, clock, EVERY, plans.full, statuses=Statuses()).run()
    assert goals == [Goal(0.3, gait="trot"), Goal(), Goal()]
