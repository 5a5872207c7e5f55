"""The robot's clock on ours, and which tick may follow which."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hw_bridge.intake import DISORDERS, WRAP, follow, new_clock

MS, US = 1e-3, 1e-6

ticks = st.integers(0, WRAP - 1)
streams = st.lists(st.tuples(st.integers(1, 50), st.floats(0.9, 9.0)), min_size=2, max_size=60)
"""Of each frame: ticks since the last one, and how much longer their arrivals took."""


class RobotTime:
    """One robot's clock; takes the length of the robot's tick [s]."""

    def __init__(self, unit_s):
        self.record = new_clock(unit_s)

    def judge(self, *frame):
        """What is wrong with a tick (u32) that came at a time [s]; None if nothing."""
        return DISORDERS.get(follow(self.record.copy(), *frame, np.empty(2)))

    def place(self, *frame):
        """When a frame, newer than the last one, was measured, and the stack's tick."""
        row = np.empty(2)
        assert follow(self.record, *frame, row) == 0
        return row[1], int(row[0])


def placed(stream, unit=MS):
    """Instants of frames that come as `stream` says."""
    clock, tick, arrival, instants = RobotTime(unit), 0, 100.0, []
    for step, wait in stream:
        tick, arrival = tick + step, arrival + wait * step * unit
        instants.append(clock.place(tick, arrival))
    return instants


def jittered(seconds, jitter_s, drift):
    """A 1 kHz stream: true times, and arrivals after 5 ms and a random delay, in order."""
    measured = np.arange(round(seconds / MS)) * MS
    delay = 0.005 + np.random.default_rng(1).uniform(0.0, jitter_s, len(measured))
    return measured * (1.0 + drift), np.maximum.accumulate(measured * (1.0 + drift) + delay)


@given(streams)
def test_the_stack_counts_milliseconds_of_the_robots_clock_in_any_unit(stream):
    instants = placed(stream)
    in_us = placed([(1000 * step, wait) for step, wait in stream], unit=US)
    elapsed = np.cumsum([step for step, _ in stream])
    assert [tick for _, tick in instants] == elapsed.tolist()
    assert [tick for _, tick in in_us] == elapsed.tolist()
    assert np.allclose([t for t, _ in instants], [t for t, _ in in_us], atol=1e-9, rtol=0.0)


@pytest.mark.parametrize("drift", [-150e-6, -50e-6, 50e-6, 150e-6])
def test_a_clock_that_drifts_is_followed(drift):
    measured, arrivals = jittered(60.0, jitter_s=0.001, drift=drift)
    clock = RobotTime(MS)
    times = [clock.place(k, arrival)[0] for k, arrival in enumerate(arrivals)]
    error = (times - measured)[5000:]
    assert np.ptp(error) < 0.5e-3


def taken(order, ticks_and_arrivals):
    """Verdicts, accepting what is well."""
    verdicts = []
    for tick, arrival in ticks_and_arrivals:
        verdicts.append(order.judge(tick, arrival))
        if verdicts[-1] is None:
            order.place(tick, arrival)
    return verdicts


@given(ticks, st.floats(0.0, 10.0), st.integers(-300, 300))
def test_after_steady_frames_a_leap_is_what_is_beyond_25_percent_and_half_a_second(
    start, wait, beyond
):
    order = RobotTime(MS)
    assert set(taken(order, [((start + k) % WRAP, k * MS) for k in range(5)])) == {None}
    step = round((0.5 + 1.25 * wait) / MS) + beyond
    verdict = order.judge((start + 4 + step) % WRAP, 4 * MS + wait)
    if beyond != 0:  # there, rounding decides
        assert (verdict == "leap") == (beyond > 0)


@pytest.mark.parametrize("jitter_s", [0.0, 0.02, 0.3])
def test_an_honest_robot_never_leaps(jitter_s):
    for drift in (-200e-6, 200e-6):
        _, arrivals = jittered(30.0, jitter_s, drift)
        assert set(taken(RobotTime(MS), enumerate(arrivals))) == {None}


@pytest.mark.parametrize("rate", [1.5, 2.0, 10.0, 100.0, 1000.0])
def test_a_clock_too_fast_is_found_however_small_its_steps(rate):
    """As when the robot counts microseconds and `tick_unit_s` says milliseconds."""
    frames = [(round(k * rate), k * MS) for k in range(5000)]
    verdicts = taken(RobotTime(MS), frames)
    found = verdicts.index("leap")
    assert found * MS <= 0.5 / (rate - 1.25) + 2 * MS
    assert verdicts.count(None) < 0.9 * len(frames)
