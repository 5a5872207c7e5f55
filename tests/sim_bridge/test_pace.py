"""Simulated time at a pace, with a clock that only tells what it is told."""

import math

import pytest
from pytest import approx

from runtime.messages import Pace
from sim_bridge.pace import SILENCE_S, PaceKeeper


class Wall:
    """A wall clock that stands still until somebody waits."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def pace(speed, steps=0):
    return Pace(sequence=1, time=7.0, speed=speed, steps=steps)


def live(keeper, wall, tick, until, cost=0.0):
    """The tick that a robot reaches whose ticks cost some wall time [s]; it waits as it is told."""
    while wall.now < until:
        remaining = keeper.remaining(tick)
        if remaining > 0.0:
            wall.now += min(remaining, until - wall.now)
            continue
        tick += 1
        wall.now += max(cost, 1e-6)
    return tick


@pytest.fixture
def wall():
    return Wall()


@pytest.fixture
def keeper(wall):
    return PaceKeeper(wall)


@pytest.mark.parametrize("speed", [0.01, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("cost", [0.0, 2e-4])
def test_time_passes_at_the_speed_that_is_asked_for(keeper, wall, speed, cost):
    keeper.take(pace(speed), 40)
    tick = live(keeper, wall, 40, wall.now + 1.5, cost)
    assert tick - 40 == approx(1500 * speed, abs=1.01)


def test_a_stop_stops_and_single_steps_are_lived_through_one_by_one(keeper, wall):
    keeper.take(pace(0.0, steps=7), 5)
    assert live(keeper, wall, 5, wall.now + 1.0) == 5
    tick = 5
    for steps, ticks in ((8, 6), (8, 6), (11, 9), (11, 9)):
        keeper.take(pace(0.0, steps), tick)
        tick = live(keeper, wall, tick, wall.now + 0.5)
        assert tick == ticks
    assert keeper.remaining(tick) == math.inf


@pytest.mark.parametrize("speed", [0.0, 1e-3])
def test_silence_sets_time_free_and_a_message_holds_it_again(keeper, wall, speed):
    keeper.take(pace(speed, steps=2), 10)
    begin = wall.now
    assert live(keeper, wall, 10, begin + SILENCE_S) <= 13
    wall.now = begin + SILENCE_S + 1e-3
    assert live(keeper, wall, 13, wall.now + 0.1, cost=1e-3) == approx(113, abs=2)
    keeper.take(pace(speed, steps=30), 113)  # steps of the time between are past
    assert live(keeper, wall, 113, wall.now + 0.5) <= 114


@pytest.mark.parametrize("speed", [math.nan, -1.0, -math.inf])
def test_a_speed_that_is_none_is_passed_over(keeper, wall, speed):
    keeper.take(pace(speed), 0)
    assert keeper.remaining(0) == 0.0
    keeper.take(pace(0.0), 0)
    keeper.take(pace(speed), 0)
    assert keeper.remaining(0) == math.inf
