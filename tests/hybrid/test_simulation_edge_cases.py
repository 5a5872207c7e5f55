"""Simulations at the edge of what is defined: limits by the second, guards at once, rest, NaN."""


import numpy as np
import pytest

from hybrid.batch import simulate_batch
from hybrid.options import SimulationOptions
from hybrid.simulation import simulate, simulate_step
from hybrid.systems import Mode, System, Transition
from tests.hybrid.compiled_functions import with_numba

each_way = pytest.mark.parametrize("way", [with_numba, lambda s: s], ids=["compiled", "python"])
FIRST, SECOND, THIRD = 1, 2, 3
GRAVITY = 9.8  # [m/s^2]; a test changes it


def drop(t, x, u):
    return np.array([x[1], -GRAVITY])


def height(t, x, u):
    return x[0]


def bounce(t, x, u):
    return np.array([x[0], -0.5 * x[1]])


def stay(t, x, u):
    return x.copy()


def still(t, x, u):
    return np.zeros(2)


BALL = System(
    {FIRST: Mode("flight", 2, 0, drop)}, (Transition(FIRST, FIRST, height, bounce, name="impact"),)
)
HIGH = np.array([1.0, 0.0])


@each_way
@pytest.mark.parametrize("t", [np.nan, np.inf])
def test_a_start_at_no_time_is_refused(way, t):
    system, none = way(BALL), np.zeros(0)
    for call in (
        lambda: simulate(system, FIRST, HIGH, 1.0, t=t),
        lambda: simulate_step(system, FIRST, HIGH, 1.0, none, t),
        lambda: simulate_batch(system, FIRST, HIGH[None], 1.0, none, t),
    ):
        with pytest.raises(ValueError, match=r"\bt\b.*finite"):
            call()


# Two guards at once


def approach(t, x, u):
    return np.array([-1.0, -1.0])


def along_wall(t, x, u):
    return np.array([0.0, -1.0])


def along_floor(t, x, u):
    return np.array([-1.0, 0.0])


def to_wall(t, x, u):
    return x[0]


def to_floor(t, x, u):
    return x[1]


def corner(*further):
    """A point that meets a wall and slides down it, or a floor and slides along that."""
    modes = {
        FIRST: Mode("approach", 2, 0, approach),
        SECOND: Mode("along the wall", 2, 0, along_wall),
        THIRD: Mode("along the floor", 2, 0, along_floor),
    }
    edges = (
        Transition(FIRST, SECOND, to_wall, stay, name="wall"),
        Transition(FIRST, THIRD, to_floor, stay, name="floor"),
    )
    return System(modes, (*edges, *further))


@each_way
def test_two_guards_at_once_to_different_modes_are_ambiguous(way):
    run = simulate(way(corner()), FIRST, np.ones(2), 2.0)
    assert run.status == "ambiguous" and "floor" in run.message
    assert run.final_time == pytest.approx(1.0, abs=1e-9)


@each_way
def test_two_guards_at_once_are_ok_where_the_second_mode_knows_the_other(way):
    stop = Transition(SECOND, THIRD, to_floor, stay, name="floor from the wall")
    run = simulate(way(corner(stop)), FIRST, np.ones(2), 2.0)
    assert (run.status, run.final_mode) == ("ok", THIRD)
    np.testing.assert_allclose([event.time for event in run.events], [1.0, 1.0], atol=1e-12)


# Limits by the second


def swing(t, x, u):
    return np.array([x[1], -x[0]])


def left_of(t, x, u):
    return -x[0]


SWING = System(
    {FIRST: Mode("right", 2, 0, swing), SECOND: Mode("left", 2, 0, swing)},
    (Transition(FIRST, SECOND, height, stay), Transition(SECOND, FIRST, left_of, stay)),
)


@each_way
def test_many_events_in_a_long_time_are_no_zeno_behaviour(way):
    run = simulate(way(SWING), FIRST, HIGH, 88.0)
    assert run.status == "ok", run.message
    times = np.pi * (np.arange(28) + 0.5)
    np.testing.assert_allclose([event.time for event in run.events], times, atol=1e-7)


@each_way
def test_many_steps_in_a_long_time_are_not_too_many(way):
    options = SimulationOptions(max_step=5e-3, max_steps=1000)
    assert simulate(way(SWING), FIRST, HIGH, 20.0, options=options).status == "ok"
    few = SimulationOptions(max_step=5e-3, max_steps=100)
    assert simulate(way(SWING), FIRST, HIGH, 20.0, options=few).status == "too_stiff"


@each_way
def test_many_events_in_a_short_time_are_zeno_behaviour(way):
    run = simulate(way(BALL), FIRST, HIGH, 5.0)
    assert run.status == "zeno" and "mode of rest" in run.message


# Starts inside a guard


@each_way
@pytest.mark.parametrize("depth", [1e-6, 1e-3])
def test_a_start_inside_a_guard_that_moves_out_says_so(way, depth):
    run = simulate(way(BALL), FIRST, np.array([-depth, 1.0]), 0.1)
    assert run.status == "inside_guard"
    assert "inside the guard of impact" in run.message


@each_way
def test_a_start_on_a_guard_that_moves_out_leaves_it(way):
    run = simulate(way(BALL), FIRST, np.array([0.0, 1.0]), 0.1)
    assert run.status == "ok" and run.events == ()


@each_way
def test_a_start_on_a_guard_that_moves_in_is_an_event(way):
    run = simulate(way(BALL), FIRST, np.array([0.0, -1.0]), 0.05)
    assert run.status == "ok" and [event.time for event in run.events] == [0.0]


# Functions that take real numbers only


# Rest


def lifted(t, x, u):
    return 3.0 - t  # let go after 3 s


def thrown(t, x, u):
    return np.array([0.0, 2.0])


def settle(t, x, u):
    return np.zeros(2)


def resting_ball(*further):
    modes = {FIRST: Mode("flight", 2, 0, drop), SECOND: Mode("rest", 2, 0, still)}
    impact = Transition(FIRST, FIRST, height, bounce, name="impact")
    rest = Transition(FIRST, SECOND, height, settle, name="rest", rest=True)
    return System(modes, (impact, rest, *further))


@each_way
def test_a_ball_comes_to_rest_where_a_mode_of_rest_is_given(way):
    run = simulate(way(resting_ball()), FIRST, HIGH, 5.0)
    assert (run.status, run.final_mode) == ("ok", SECOND)
    np.testing.assert_array_equal(run.final_state, 0.0)
    assert abs(run.events[-1].state_before[0]) < 1e-9
    accumulation = 3.0 * np.sqrt(2.0 / GRAVITY)  # (1 + e) / (1 - e) times the first fall
    assert run.events[-1].time == pytest.approx(accumulation, abs=1e-3)
    assert run.events[-1].transition.target == SECOND


@each_way
def test_rest_ends_with_a_transition_of_its_own(way):
    launch = Transition(SECOND, FIRST, lifted, thrown, name="launch")
    run = simulate(way(resting_ball(launch)), FIRST, HIGH, 3.1)
    assert (run.status, run.final_mode) == ("ok", FIRST)
    end = [2.0 * 0.1 - 0.5 * GRAVITY * 0.01, 2.0 - GRAVITY * 0.1]
    np.testing.assert_allclose(run.final_state, end, atol=1e-8)


# Arrays that must not be written


@each_way
def test_read_only_arrays_are_inputs_and_states(way):
    push = Mode("push", 2, 1, lambda t, x, u: np.array([x[1], u[0]]))
    system, x, u = way(System({FIRST: push}, ())), HIGH.copy(), np.ones(1)
    x.flags.writeable = u.flags.writeable = False
    assert simulate(system, FIRST, x, 2.0, u).final_state[0] == pytest.approx(3.0)
    assert simulate_step(system, FIRST, x, 2.0, u).state[0] == pytest.approx(3.0)
    assert simulate_batch(system, FIRST, x[None], 2.0, u).states[0, 0] == pytest.approx(3.0)
