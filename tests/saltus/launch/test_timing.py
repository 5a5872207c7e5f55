"""The latency model of lock step: what it accepts, what it reads, and what a run makes of it."""

from itertools import takewhile

import pytest

from runtime.messages import encode
from saltus.configuration.launch import (
    TimingOptions,
    load_launch,
)
from saltus.launch import assembly
from saltus.launch.lock_step import LockStep
from saltus.sweep.trials import make_trials
from sim_bridge.suites import parse_suite

LATE = ["timing.solve=0.025", "timing.estimate=0.002"]
SUITE = """
reference: stand
duration: 1.0
timing: {estimate: 0.003}
groups:
  - {name: slow, timing: {solve: 0.05}, trials: &push {kind: motor_block, at: 0.1, for: 0.1}}
  - {name: slower, timing: {solve: 1e-1, estimate: 0.004}, trials: *push}
"""


def test_timing_of_a_suite_reaches_its_trials_and_settings_win_over_it():
    groups = parse_suite(SUITE)
    timings = [trial.config.timing for trial in make_trials(groups, "hilqr", "paused", "a suite")]
    assert timings == [TimingOptions(0.05, 0.003), TimingOptions(0.1, 0.004)]
    trials = make_trials(groups, "hilqr", "paused", "a suite", ["timing.solve=0.025"])
    assert [trial.config.timing for trial in trials] == [
        TimingOptions(0.025, 0.003), TimingOptions(0.025, 0.004),
    ]  # fmt: skip
    assert parse_suite(SUITE)[0].timing == {"estimate": 0.003, "solve": 0.05}


class TrackerSpy:
    """Passes calls on to a tracker, and keeps the estimates that it was given."""

    def __init__(self, tracker):
        self.tracker, self.estimates = tracker, []

    def command(self, estimate, plan, now, reading):
        self.estimates.append(estimate)
        return self.tracker.command(estimate, plan, now, reading)


class Run:
    """A short stand in lock step with a latency: its ticks, and what the tracker was given."""

    def __init__(self, assignments=LATE):
        run = LockStep(load_launch("stand", assignments, duration=0.3))
        spy = TrackerSpy(run.tracker)
        run.tracker, self.ticks = spy, []
        run.run(self.ticks.append)
        self.estimates, self.solves = spy.estimates, assembly.solve_schedule(run.config)

    @property
    def plans(self):
        """Each with the tick in which it arrived."""
        return [(k, tick.plan) for k, tick in enumerate(self.ticks) if tick.plan is not None]


@pytest.fixture(scope="module")
def late():
    return Run()


def test_plans_arrive_when_the_schedule_says(late):
    solves = list(takewhile(lambda solve: solve.arrival < 300, late.solves))
    assert [solve.arrival for solve in solves][:3] == [27, 52, 77]
    arrivals, plans = zip(*late.plans, strict=True)
    assert list(arrivals) == [solve.arrival for solve in solves]
    assert [each.tick for each in plans] == [solve.estimate for solve in solves]
    assert [each.solve_s for each in plans] == [0.025] * len(solves)
    for tick, each in late.plans:  # on the first knot after the expected arrival
        assert 0.0 <= each.time - 1e-3 * tick < 0.01 + 1e-9 and each.status != "failed"


def test_the_tracker_has_estimates_that_are_two_ticks_old(late):
    assert late.estimates[:2] == [None, None]
    assert all(late.estimates[k] is late.ticks[k - 2].estimate for k in range(2, 300))
    assert [tick.estimate.tick for tick in late.ticks] == list(range(300))
    assert [tick.command.tick for tick in late.ticks] == list(range(300))


def test_two_runs_are_identical_to_the_last_bit(late):
    one, other = ([encode(message) for tick in run.ticks for message in tick if message is not None]
                  for run in (late, Run()))  # fmt: skip
    assert one == other
    assert one != [encode(m) for tick in Run([]).ticks for m in tick if m is not None]
