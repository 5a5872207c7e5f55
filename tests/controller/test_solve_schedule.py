"""Laws of the schedule of solves in lock step, and of the expected duration of a solve."""

from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from controller.solve_schedule import TICK_S, ExpectedDuration, SolveSchedule

COUNT = 40  # of the solves of a schedule that are looked at
DURATIONS = st.floats(0.0, 0.3, allow_subnormal=False)
SCHEDULES = st.builds(
    SolveSchedule,
    st.integers(1, 60),
    DURATIONS,
    st.integers(0, 30),
)


def first(schedule):
    return list(islice(schedule, COUNT))


@given(SCHEDULES)
def test_solves_follow_each_other_as_soon_as_they_may(schedule):
    for before, after in pairwise(first(schedule)):
        assert after.start >= before.arrival  # no two at a time
        assert after.start >= before.start + schedule.every
        assert after.start in (before.arrival, before.start + schedule.every)
        assert after.arrival >= before.arrival


@given(SCHEDULES)
def test_a_plan_arrives_in_the_first_tick_after_its_solve(schedule):
    for solve in first(schedule):
        ticks = solve.arrival - solve.start
        assert solve.duration - 1e-8 <= ticks * TICK_S < solve.duration + TICK_S


@pytest.mark.parametrize("ticks", [1, 7, 23, 29, 57, 100, 1000])
def test_a_duration_of_whole_ticks_takes_no_tick_more(ticks):
    assert first(SolveSchedule(10, ticks * 0.001))[0].arrival == ticks


@given(DURATIONS, st.integers(0, 30))
def test_the_lead_is_age_and_duration(duration, age):
    for solve in first(SolveSchedule(10, duration, age)):
        assert solve.lead == approx(age * TICK_S + duration, abs=1e-12)


@given(DURATIONS, DURATIONS)
def test_the_expected_duration_rises_fast_and_falls_slowly(before, duration):
    expected = ExpectedDuration(before)
    expected.add(duration)
    assert min(before, duration) <= expected.value <= max(before, duration)
    share = 0.3 if duration > before else 0.05
    assert expected.value - before == approx(share * (duration - before), abs=1e-12)
