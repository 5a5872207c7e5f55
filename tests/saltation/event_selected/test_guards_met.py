"""Which guards a step meets: those that it would step over, and those that it starts on."""

import numpy as np
import pytest
from pytest import approx

from saltation.event_selected import EssOptions, EventSelectedSystem, integrate


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
    assert run.crossings[0].time == approx(1.0 - np.sqrt(2.0 * depth), abs=1e-7)


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
    assert run.final_time == approx(0.5) and "system ring at t = 0.5 s" in run.message
