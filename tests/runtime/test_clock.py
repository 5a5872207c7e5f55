"""Clocks: absolute ticks that skip and never burst, and lock step by tick number."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

from runtime import clock
from runtime.clock import REACH, ArrivalClock, PausedClock, RealTimeClock
from runtime.histogram import LogHistogram

PERIOD = 0.001


class FakeTime:
    """Time that passes only by sleeping (late by `oversleep`) and by working."""

    def __init__(self):
        self.now = self.start = 1234.5
        self.oversleep = 0.0
        self.sleeps = []

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.sleeps.append(seconds)
        self.now += seconds + self.oversleep


@pytest.fixture
def fake(monkeypatch):
    time = FakeTime()
    monkeypatch.setattr(clock, "time", time)
    return time


@settings(max_examples=100)
@given(work=st.lists(st.floats(0.0, 5e-3), min_size=1, max_size=60))
def test_whatever_the_work_ticks_grow_and_none_comes_early(work):
    fake = FakeTime()
    original, clock.time = clock.time, fake
    try:
        real = RealTimeClock(PERIOD)
        last = -1
        for seconds in work:
            tick = real.wait_tick()
            assert tick > last
            assert fake.now - fake.start >= tick * PERIOD - 1e-9
            assert fake.now - fake.start < (tick + 1) * PERIOD + 1e-9
            last = tick
            fake.now += seconds
        statistics = real.statistics()
    finally:
        clock.time = original
    assert statistics.ticks + statistics.missed == last + 1


class Arrivals:
    """Comes at the times that `at(tick)` says, in the fake time; those that came already wait."""

    def __init__(self, fake, at):
        self.fake, self.at, self.next = fake, at, 0

    def __call__(self, timeout_s):
        due = self.at(self.next)
        if due > self.fake.now + timeout_s:
            self.fake.now += timeout_s
            return False
        self.fake.now = max(self.fake.now, due)
        while self.at(self.next) <= self.fake.now:  # the tick reads all that there is
            self.next += 1
        return True


@pytest.mark.parametrize("phase", [0.05, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("rate", [1.0, 0.999, 1.001])
def test_ticks_come_to_begin_when_something_arrives(fake, phase, rate):
    jitter = np.random.default_rng(3).uniform(0.0, 0.1, 2000)
    arrivals = Arrivals(fake, lambda k: fake.start + PERIOD * ((k + phase) * rate + jitter[k]))
    real, waited = ArrivalClock(PERIOD, arrivals), []
    for _ in range(1000):
        real.wait_tick()
        waited.append(fake.now - arrivals.at(arrivals.next - 1))
        fake.now += 0.3 * PERIOD
    assert max(waited[200:]) < 1e-9
    statistics = real.statistics()
    assert statistics.missed <= 1 and abs(statistics.ticks - (fake.now - fake.start) / PERIOD) < 3


def test_without_arrivals_ticks_go_on_late_by_the_reach(fake):
    real = ArrivalClock(PERIOD, Arrivals(fake, lambda _: np.inf))
    for k in range(100):
        assert real.wait_tick() == k
        assert fake.now - fake.start == approx((k + REACH) * PERIOD)


@dataclass
class Numbered:
    tick: int


class Queue:
    """A source that gives these messages one after the other, then nothing."""

    def __init__(self, *ticks):
        self.messages = [Numbered(tick) for tick in ticks]
        self.asked = None

    def newest(self):
        messages, self.messages = self.messages, []
        return messages[-1] if messages else None

    def wait_for(self, predicate, timeout_s, stop=None):
        self.asked = timeout_s
        while self.messages and not stop():
            message = self.messages.pop(0)
            if predicate(message):
                return message
        return None


def never():
    return False


def test_paused_time_is_the_tick_number_and_waits_for_its_message_alone():
    paused, source = PausedClock(PERIOD), Queue(0, 1, 2, 3, 10)
    assert paused.now() == 0.0 and paused.paused
    assert [paused.wait_tick() for _ in range(4)] == [0, 1, 2, 3]
    assert paused.now() == 3 * PERIOD
    statistics = paused.statistics()
    assert (statistics.ticks, statistics.missed, statistics.lateness_us.p999) == (4, 0, 0.0)
    assert paused.collect(source, 2, never) == Numbered(2)
    assert paused.collect(source, 5, never) is None  # it was overtaken
    assert source.asked == math.inf and source.messages == []


@given(values=st.lists(st.floats(0.0, 1e8), min_size=1, max_size=200))
def test_histogram_quantiles_are_within_its_resolution(values):
    histogram = LogHistogram(1.0)
    for value in values:
        histogram.add(value)
    for fraction in (0.5, 0.99, 0.999):
        exact = np.quantile(values, fraction, method="inverted_cdf")
        found = histogram.quantile(fraction)
        assert exact * (1 - 1e-9) - 1e-6 <= found <= (1.0 + exact) * 2 ** (1 / 32)
    assert histogram.quantiles().max == max(values)
