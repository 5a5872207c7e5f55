"""The loop around the tracker: lock step, real time, errors; clocks and topics in memory."""

from controller.solve_schedule import SolveSchedule
from controller.tracker_node import TrackerLoop
from runtime.clock import TickStatistics
from tests.controller.tracker_messages import TICK, TRACKER, estimate, plan, reading, standing

Q, V = standing()


class TickClock:
    """A clock that is stepped by its own ticks."""

    def __init__(self, paused):
        self.paused, self.ticks = paused, 0

    def now(self):
        return max(0, self.ticks - 1) * TICK

    def wait_tick(self):
        self.ticks += 1
        return self.ticks - 1

    def collect(self, source, tick, stop):
        return source.at(tick)

    def statistics(self):
        return TickStatistics(ticks=self.ticks)


class Source:
    """A subscriber that makes its message, and remembers for which ticks it was asked."""

    def __init__(self, make):
        self.make, self.asked, self.undecodable = make, [], 0

    def at(self, tick):
        self.asked.append(tick)
        return self.make(tick)

    def newest(self):
        return self.at(self.asked[-1] + 1 if self.asked else 0)


class Robot:
    """Bridge and publisher in one: keeps what it was given."""

    def __init__(self, read=lambda k: reading(k, Q, V)):
        self.make, self.commands, self.sent = read, [], []

    def read(self, clock, tick, stop):
        reading = self.make(tick)
        return [] if reading is None else [reading]

    def write(self, command):
        self.commands.append(command)

    def close(self): ...

    def send(self, message):
        self.sent.append(message)


def track(robot, clock, estimates, plans, ticks):
    TRACKER.reset()
    anything = (robot, robot, estimates, plans, clock)
    stop = lambda: clock.ticks >= ticks + 1  # noqa: E731
    return TrackerLoop(TRACKER, *anything, SolveSchedule(10), stop).run()


def good_estimates():
    return Source(lambda k: estimate(k, Q, V))


def good_plans():
    return Source(lambda k: plan(k + 1, k))


def test_lock_step_asks_for_a_plan_every_tenth_tick():
    robot, clock, plans = Robot(), TickClock(True), good_plans()
    report = track(robot, clock, good_estimates(), plans, 100)
    assert plans.asked == list(range(0, 101, 10))
    *tracked, last = robot.commands
    assert [c.tick for c in tracked] == list(range(100))
    assert {c.status for c in tracked} == {"ok"} and last.status == "damp"
    assert [r.tick for r in robot.sent] == list(range(101))
    assert report["plans_accepted"] == 10 and report["errors"] == 0
    assert 0.0 <= report["plan_age_ms"]["max"] <= 9.5
    assert report["commands"] == {"ok": 100, "damp": 1}


def test_an_error_in_the_loop_is_counted_and_a_command_goes_out_all_the_same():
    def broken(tick):
        if tick >= 50:
            raise OSError("cable")
        return reading(tick, Q, V)

    robot, clock = Robot(broken), TickClock(False)
    report = track(robot, clock, good_estimates(), good_plans(), 700)
    assert report["errors"] == 651 and report["damp_unsent"] == 0
    status = [c.status for c in robot.commands]
    assert len(status) == 702
    assert status[60] == "ok" and status[-2] == "stand_down" and status[-1] == "damp"


def test_a_broken_wire_does_not_end_the_loop():
    class Cut(Robot):
        def write(self, command):
            raise OSError("cable")

    report = track(Cut(), TickClock(False), good_estimates(), good_plans(), 20)
    assert report["ticks"] == 21 and report["errors"] == 21 and report["damp_unsent"] == 22


def test_every_reading_is_passed_on_and_the_newest_is_used():
    class Bursts(Robot):
        def read(self, clock, tick, stop):
            return [reading(k, Q, V) for k in range(tick - 2, tick + 1)] if tick % 3 == 2 else []

    robot = Bursts()
    report = track(robot, TickClock(False), good_estimates(), good_plans(), 29)
    assert [r.tick for r in robot.sent] == list(range(30))
    assert report["no_reading"] == 20
    assert [c.tick for c in robot.commands[2:8]] == [2, 2, 2, 5, 5, 5]
