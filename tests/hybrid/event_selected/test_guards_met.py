"""Which guards a step meets: those that it would step over, and those that it starts on."""

import numpy as np
import pytest

from hybrid.event_selected import EssOptions, EventSelectedSystem, integrate
from studies.anderson_revzen.systems.spring_bed import SpringBed, random_starts, spring_bed
from studies.anderson_revzen.systems.spring_hopper import SpringHopper, exact, spring_hopper


def thrown_flow(x, side, p):
    return np.array([x[1], -1.0])


def height_events(x, p):
    return np.array([x[0] - p[0]])


def height_events_state(x, p):
    return np.array([[1.0, 0.0]])


def thrown(height):
    """Thrown up by 1/2, past a guard: one step is exact and ends below where it began."""
    functions = (thrown_flow, height_events, height_events_state)
    return EventSelectedSystem("thrown", 2, 1, *functions, parameters=np.array([height]))


@pytest.mark.parametrize("depth", [0.4, 0.05, 1e-3, 1e-6])
def test_a_guard_that_is_crossed_to_and_fro_within_a_step_is_not_stepped_over(depth):
    run = integrate(thrown(0.5 - depth), np.array([0.0, 1.0]), 2.1, EssOptions(epsilon=1e-8))
    assert run.ok and len(run.crossings) == 1
    assert run.crossings[0].time == pytest.approx(1.0 - np.sqrt(2.0 * depth), abs=1e-7)


def test_a_guard_that_is_not_reached_is_not_crossed():
    for short in (1e-9, 1e-3):
        run = integrate(thrown(0.5 + short), np.array([0.0, 1.0]), 2.1)
        assert run.ok and run.crossings == () and len(run.curves) < 60


def clock_flow(x, side, p):
    return np.array([1.0])


def clock_events(x, p):
    """A cubic in time, and a line beyond its guard at the step's end."""
    return np.array([-(x[0] - 0.9) * (x[0] - 1.1) * (x[0] + p[0]), x[0] - 1.9])


def clock_events_state(x, p):
    a, b, c = x[0] - 0.9, x[0] - 1.1, x[0] + p[0]
    return np.array([[-(a * b + b * c + a * c)], [1.0]])


@pytest.mark.parametrize("root", [0.3, 0.01])
def test_a_guard_that_falls_first_is_found_and_another_s_crossing_does_not_hide_it(root):
    functions = (clock_flow, clock_events, clock_events_state)
    system = EventSelectedSystem("clock", 1, 2, *functions, parameters=np.array([root]))
    run = integrate(system, np.array([0.0]), 2.0, EssOptions(epsilon=1e-6))
    assert [(c.guard, round(c.time, 6)) for c in run.crossings] == [(0, 0.9), (1, 1.9)]


def late_events(x, p):
    """Guard 1, armed above its zero by guard 0, is below it only between 1 and 1.1."""
    return np.array([x[0] - 0.5, (x[0] - 1.0) * (x[0] - 1.1)])


def late_events_state(x, p):
    return np.array([[1.0], [2.0 * x[0] - 2.1]])


def test_a_guard_that_waits_is_seen_to_pass_below_zero():
    rearm = np.array([[False, True], [False, False]])
    functions = (clock_flow, late_events, late_events_state)
    system = EventSelectedSystem("late", 1, 2, *functions, rearm)
    run = integrate(system, np.array([0.0]), 5.0, EssOptions(epsilon=1e-5))
    assert [(c.guard, round(c.time, 4)) for c in run.crossings] == [(0, 0.5), (1, 1.1)]


@pytest.mark.parametrize("springs", [2, 7])
def test_a_plate_does_not_fall_through_its_bed_however_long_the_steps(springs):
    system = spring_bed(SpringBed(springs))
    for start in random_starts(6, np.random.default_rng(1)):
        free, bounded = (
            integrate(system, start, 4.0, EssOptions(epsilon=1e-5, max_step=longest))
            for longest in (np.inf, 2e-3)
        )
        assert free.ok and len(free.crossings) == len(bounded.crossings)
        np.testing.assert_allclose(free.final_state, bounded.final_state, atol=1e-3)


@pytest.mark.parametrize("velocity", [1.0, -1.0, 0.0])
def test_a_start_on_both_guards_goes_the_way_the_flow_does(velocity):
    """Neither is below zero there, and the one that is ahead must be a candidate all the same."""
    run = integrate(spring_hopper(), np.array([1.0, velocity]), 0.4, EssOptions(epsilon=1e-6))
    true = exact(SpringHopper(), np.array([1.0 + 1e-13, velocity]), np.array([0.4]))[0]
    np.testing.assert_allclose(run.final_state, true, atol=1e-4)
    assert run.crossings[0].time < 1e-5 and run.crossings[0].guard == (velocity > 0.0)


def rooted_flow(x, side, p):
    return np.array([1.0 if side[0] < 0.0 else 0.01])


def rooted_events(x, p):
    return np.array([0.4 - np.sqrt(1.16 - x[0])])


def rooted_events_state(x, p):
    return np.array([[0.5 / np.sqrt(1.16 - x[0])]])


def test_h_need_not_be_defined_far_beyond_its_guard():
    system = EventSelectedSystem("root", 1, 1, rooted_flow, rooted_events, rooted_events_state)
    run = integrate(system, np.array([0.0]), 3.0, EssOptions(epsilon=1e-6))
    assert run.ok and run.final_state[0] == pytest.approx(1.02, abs=1e-6)
    beyond = integrate(system, np.array([0.0]), 30.0, EssOptions(epsilon=1e-6))
    assert beyond.status == "not_finite" and "system root at t = 17" in beyond.message


def hole_flow(x, side, p):
    return np.array([np.nan if x[0] < 1.5 else x[1], -9.81])


def test_a_run_goes_as_far_as_its_flow_is_defined():
    """One state's rate is not a number there, and not the last one's."""
    system = EventSelectedSystem("hole", 2, 1, hole_flow, height_events, height_events_state,
                                 parameters=np.array([9.0]))  # fmt: skip
    run = integrate(system, np.array([2.0, 0.0]), 2.0)
    assert run.status == "not_finite" and "system hole" in run.message
    assert run.final_time == pytest.approx(np.sqrt(1.0 / 9.81), rel=1e-6)


def line_events_twice(x, p):
    return np.array([x[0], x[0]])


def line_events_twice_state(x, p):
    return np.array([[1.0], [1.0]])


def test_guards_that_arm_each_other_in_one_place_are_said_to():
    rearm = np.array([[False, True], [True, False]])
    functions = (clock_flow, line_events_twice, line_events_twice_state)
    system = EventSelectedSystem("ring", 1, 2, *functions, rearm)
    run = integrate(system, np.array([-0.5]), 2.0, EssOptions(max_events=50))
    assert run.status == "zeno" and len(run.crossings) == 50
    assert run.final_time == pytest.approx(0.5) and "system ring at t = 0.5 s" in run.message


def no_events(x, p):
    return np.zeros(0)


def no_events_state(x, p):
    return np.zeros((0, 2))


def test_without_guards_it_is_an_integrator():
    system = EventSelectedSystem("free", 2, 0, thrown_flow, no_events, no_events_state)
    run = integrate(system, np.array([0.0, 1.0]), 2.0)
    np.testing.assert_allclose(run.final_state, [0.0, -1.0], atol=1e-12)
