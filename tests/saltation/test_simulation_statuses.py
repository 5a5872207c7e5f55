"""What ends a simulation: a status and a message of where and why; mistakes of the caller."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx

from saltation.batch import simulate_batch
from saltation.compiled.system import native_tables
from saltation.examples.bouncing_ball import (
    FALLING,
    GRAVITY,
    RISING,
    bouncing_ball,
    bouncing_ball_problem,
)
from saltation.hilqr import Hilqr, Policies
from saltation.options import SimulationOptions
from saltation.simulation import simulate, simulate_step
from saltation.systems import Mode, System, Transition
from saltation.variational import fundamental_matrix
from tests.refusals import refusal
from tests.saltation.compiled_functions import each_way, without_closed_forms
from tests.saltation.driven_systems import (
    SETTLE,
    bounce,
    fall,
    height,
    one_mode_ball,
    stay,
    swing,
)

U, HIGH, NONE = np.zeros(1), np.array([1.0, 0.0]), np.zeros(0)
BALL = bouncing_ball()
closed_or_not = pytest.mark.parametrize("closed_form", [True, False])


def ball_with(closed_form=False, mode=None, **changed):
    """The ball with functions of mode FALLING, and of its impact, replaced."""
    ball = BALL if closed_form else without_closed_forms(BALL)
    falling = dataclasses.replace(ball.modes[FALLING], **(mode or {}))
    impact, apex = ball.transitions
    edges = dataclasses.replace(impact, **changed), apex
    return System({**ball.modes, FALLING: falling}, edges)


def drop(system, duration=1.0, x=HIGH):
    return simulate_step(system, FALLING, x, duration, U, 0.25)


def assert_says(step, status, *words):
    assert step.status == status
    for word in (*words, "in mode ", "at t = ", "x = ["):
        assert word in step.message


@closed_or_not
@pytest.mark.parametrize("above", [0.0, 1e-11, -1e-11])
def test_a_ceiling_that_is_touched_is_grazed(closed_form, above):
    height = 4.0**2 / (2 * GRAVITY) + above
    ceiling = {
        "guard": lambda t, x, u: height - x[0],
        "guard_state": lambda t, x, u: np.array([-1.0, 0.0]),
        "name": "ceiling",
    }
    step = drop(ball_with(closed_form, **ceiling), 0.8, np.array([0.0, 4.0]))
    assert_says(step, "grazing", "falling (1)", "ceiling (1, 2)")
    assert step.mode == FALLING and step.events == ()
    assert_allclose(step.state, [height, 0.0], atol=2e-5)


@closed_or_not
def test_a_ball_on_the_floor_grazes_it_and_one_that_bounce_for_ever_is_zeno(closed_form):
    step = drop(ball_with(closed_form), 0.1, np.zeros(2))
    assert_says(step, "grazing", "impact (1, 2)", "t = 0.25 s")
    step = drop(ball_with(closed_form), 5.0)
    assert_says(step, "zeno", "20 events", "max_events")
    still = ball_with(mode={"flow": lambda t, x, u: np.zeros(2)})
    step = drop(still, x=np.zeros(2))
    assert step.status == "ok" and step.events == ()


NOWHERE = BALL.modes[FALLING].flow_map._replace(state=lambda t, x, u, h: x * np.nan)
IMPACT = "impact (1, 2)"


@pytest.mark.parametrize(
    "system, words",
    [
        (ball_with(mode={"flow": lambda t, x, u: np.array([x[1], -9.8 if x[0] > 0.5 else np.nan])}),
         "the flow"),
        (ball_with(True, mode={"flow_map": NOWHERE}), "the flow"),
        (ball_with(guard=lambda t, x, u: np.nan if x[0] < 0.9 else x[0]), "the guard of " + IMPACT),
        (ball_with(reset=lambda t, x, u: x * np.array([1.0, np.inf])), "the reset of " + IMPACT),
    ],
)  # fmt: skip
def test_a_function_that_is_not_finite_is_named(system, words):
    with np.errstate(invalid="ignore"):
        step = drop(system)
    assert_says(step, "not_finite", "falling (1)", words)
    assert step.mode == FALLING and step.events == () and np.isfinite(step.state).all()


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 1)])
@pytest.mark.parametrize("which", ["flow", "flow_map", "reset"])
def test_a_function_of_the_wrong_dimension_is_named(which, shape):
    def wrong(t, x, u, *h):
        return np.ones(shape)

    if which == "reset":
        system, words = ball_with(reset=wrong), "the reset of " + IMPACT
    else:
        changed = NOWHERE._replace(state=wrong) if which == "flow_map" else wrong
        system, words = ball_with(which == "flow_map", mode={which: changed}), "mode falling"
    assert_says(drop(system), "wrong_dimension", words, str(shape), "(2,)")


def test_events_before_a_failure_are_kept():
    impact, apex = BALL.transitions
    broken = dataclasses.replace(apex, reset=lambda t, x, u: x * np.nan)
    step = drop(System(BALL.modes, (impact, broken)))
    assert_says(step, "not_finite", "rising (2)", "apex (2, 1)")
    assert [event.transition.name for event in step.events] == ["impact"]
    assert step.mode == RISING and step.state[0] == approx(0.5625)


@pytest.mark.parametrize("which", ["flow", "guard"])
def test_what_a_user_raises_is_not_hidden(which):
    def function(t, x, u):
        if x[0] < 0.5:
            raise RuntimeError("below the table")
        return np.array([x[1], -GRAVITY]) if which == "flow" else x[0]

    system = ball_with(mode={"flow": function}) if which == "flow" else ball_with(guard=function)
    with pytest.raises(RuntimeError, match="below the table"):
        drop(system)


# Two guards at once, limits by the second, starts inside a guard, rest

FIRST, SECOND, THIRD = 1, 2, 3


def second(t, x, u):
    return x[1]


def corner(*further):
    """A point that meets a wall and slides down it, or a floor and slides along that."""
    modes = {
        FIRST: Mode("approach", 2, 0, lambda t, x, u: np.array([-1.0, -1.0])),
        SECOND: Mode("along the wall", 2, 0, lambda t, x, u: np.array([0.0, -1.0])),
        THIRD: Mode("along the floor", 2, 0, lambda t, x, u: np.array([-1.0, 0.0])),
    }
    wall = Transition(FIRST, SECOND, height, stay, name="wall")
    return System(modes, (wall, Transition(FIRST, THIRD, second, stay, name="floor"), *further))


@each_way
def test_two_guards_at_once_are_ambiguous_unless_the_second_mode_knows_the_other(way):
    run = simulate(way(corner()), FIRST, np.ones(2), 2.0)
    assert run.status == "ambiguous" and "floor" in run.message
    assert run.final_time == approx(1.0, abs=1e-9)
    stop = Transition(SECOND, THIRD, second, stay, name="floor from the wall")
    run = simulate(way(corner(stop)), FIRST, np.ones(2), 2.0)
    assert (run.status, run.final_mode) == ("ok", THIRD)
    assert_allclose([event.time for event in run.events], [1.0, 1.0], atol=1e-12)


def left_of(t, x, u):
    return -x[0]


@each_way
def test_many_events_and_steps_in_a_long_time_are_not_too_many(way):
    modes = {FIRST: Mode("right", 2, 0, swing), SECOND: Mode("left", 2, 0, swing)}
    edges = Transition(FIRST, SECOND, height, stay), Transition(SECOND, FIRST, left_of, stay)
    system = way(System(modes, edges))
    run = simulate(system, FIRST, HIGH, 88.0)
    assert run.status == "ok", run.message
    times = np.pi * (np.arange(28) + 0.5)
    assert_allclose([event.time for event in run.events], times, atol=1e-7)
    for most, status in ((5000, "ok"), (1000, "too_stiff")):
        options = SimulationOptions(max_step=5e-3, max_steps=most)
        assert simulate(system, FIRST, HIGH, 20.0, options=options).status == status


@each_way
@pytest.mark.parametrize(
    "x, duration, status, times",
    [
        ((-1e-6, 1.0), 0.1, "inside_guard", None),
        ((-1e-3, 1.0), 0.1, "inside_guard", None),
        ((0.0, 1.0), 0.1, "ok", []),
        ((0.0, -1.0), 0.05, "ok", [0.0]),
        ((1.0, 0.0), 5.0, "zeno", None),
    ],
)
def test_a_start_inside_a_guard_and_on_it(way, x, duration, status, times):
    run = simulate(way(one_mode_ball()), FIRST, np.array(x), duration)
    assert run.status == status and (status == "ok") == (run.message == "")
    assert times is None or [event.time for event in run.events] == times


@each_way
def test_a_ball_comes_to_rest_where_a_mode_of_rest_is_given_and_may_be_thrown_again(way):
    run = simulate(way(one_mode_ball(SETTLE)), FIRST, HIGH, 5.0)
    assert (run.status, run.final_mode) == ("ok", SECOND)
    assert_array_equal(run.final_state, 0.0)
    accumulation = 3.0 * np.sqrt(2.0 / 9.8)  # (1 + e) / (1 - e) times the first fall
    assert run.events[-1].time == approx(accumulation, abs=1e-3)
    launch = Transition(SECOND, FIRST, lambda t, x, u: 3.0 - t,
                        lambda t, x, u: np.array([0.0, 2.0]), name="launch")  # fmt: skip
    run = simulate(way(one_mode_ball(SETTLE, launch)), FIRST, HIGH, 3.1)
    assert (run.status, run.final_mode) == ("ok", FIRST)
    assert_allclose(run.final_state, [0.2 - 0.049, 2.0 - 0.98], atol=1e-8)


# Modes that take inputs of different numbers, and a mode with no state at all


def test_a_mode_with_no_state_is_simulated():
    modes = {
        1: Mode("running", 1, 0, lambda t, x, u: np.array([-1.0])),
        2: Mode("resting", 0, 0, lambda t, x, u: np.zeros(0)),
    }
    stop = Transition(1, 2, height, lambda t, x, u: np.zeros(0), name="stop")
    system, x = System(modes, (stop,)), np.array([0.5])
    step = simulate_step(system, 1, x, 1.0, NONE)
    assert (step.status, step.mode, step.state.shape) == ("ok", 2, (0,))
    assert step.events[0].time == approx(0.5, abs=1e-12)
    assert fundamental_matrix(system, 1, x, 1.0).Phi.shape == (0, 1)


# Mistakes of the caller: one clear error before compiled code sees them


def policies(gains=(1, 2)):
    return Policies.of(np.zeros((6, 2)), np.zeros((5, 1)), np.zeros((5, *gains)))


def start(x0, seed):
    return Hilqr(bouncing_ball_problem()).start(x0, seed)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: simulate(BALL, 9, HIGH, 1.0), "mode 9"),
        (lambda: simulate_step(BALL, 9, HIGH, 1.0, U), "mode 9"),
        (lambda: drop(BALL, x=[[1.0, 0.0]]), "(2,)"),
        (lambda: simulate_step(BALL, 1, HIGH, 1.0, np.zeros(2)), "(1,)"),
        (lambda: simulate_batch(BALL, 1, HIGH, 1.0, U), "(B, 2)"),
        (lambda: simulate_batch(BALL, 1, HIGH[None], 1.0, NONE), "(1,)"),
        (lambda: simulate(BALL, 1, HIGH, 1.0, np.zeros(2)), "(1,)"),
        (lambda: simulate(BALL, 1, HIGH, 1.0, np.zeros((9, 2)), timestep=0.2), "(2,)"),
        (lambda: simulate(BALL, 1, HIGH, 1.0, np.zeros((20, 1))), "timestep"),
        (lambda: simulate(BALL, 1, HIGH, 1.0, np.zeros((3, 1)), timestep=0.1), "10 inputs"),
        (lambda: simulate(BALL, 1, HIGH, 1.0, timestep=0.0), "timestep"),
        (lambda: start(np.zeros(3), policies()), "takes"),
        (lambda: start(HIGH, policies(gains=(1, 3))), "takes"),
    ],
)
def test_a_mistake_of_the_caller_is_named(call, words):
    assert words in refusal(ValueError, call)


@pytest.mark.parametrize(
    "duration, t", [(np.inf, 0.0), (np.nan, 0.0), (-1.0, 0.0), (1.0, np.nan), (1.0, np.inf)]
)
def test_times_that_are_none_are_refused(duration, t):
    for call in (
        lambda: simulate(BALL, FALLING, HIGH, duration, t=t),
        lambda: simulate_step(BALL, FALLING, HIGH, duration, U, t),
        lambda: simulate_batch(BALL, FALLING, HIGH[None], duration, U, t),
    ):
        line = refusal(ValueError, call)
        assert "finite" in line or "duration" in line


def test_a_reset_that_writes_on_its_argument_does_no_harm():
    def careless(t, x, u):
        x[1] *= -0.5
        return x

    def lands(reset):
        mode = Mode("air", 2, 0, fall)
        return System({1: mode, 2: mode}, (Transition(1, 2, height, reset, name="land"),))

    right, wrong = lands(bounce), lands(careless)
    assert native_tables(right).reason == native_tables(wrong).reason == ""
    ends = [simulate_batch(s, 1, HIGH[None], 0.6, NONE).states for s in (right, wrong)]
    assert_array_equal(ends[0], ends[1])
    one, other = (fundamental_matrix(s, 1, HIGH, 0.6) for s in (right, wrong))
    assert_allclose(one.Phi, other.Phi, rtol=1e-9)
    assert other.events[0].state_before[1] < 0.0 < other.events[0].state_after[1]
