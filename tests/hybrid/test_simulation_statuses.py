"""Every way in which a simulation cannot go on: a status, and a message that says where and why."""

import dataclasses

import numpy as np
import pytest

from hybrid.examples.bouncing_ball import FALLING, GRAVITY, RISING, bouncing_ball
from hybrid.options import SimulationOptions
from hybrid.simulation import simulate_step
from hybrid.systems import System

U = np.zeros(1)
START = np.array([1.0, 0.0])


def ball_with(closed_form=False, mode=None, **changed):
    """The ball with functions of mode FALLING, and of its impact, replaced."""
    ball = bouncing_ball()
    impact, apex = ball.transitions
    modes = dict(ball.modes)
    if not closed_form:
        modes = {i: dataclasses.replace(m, flow_map=None) for i, m in modes.items()}
    if mode:
        modes[FALLING] = dataclasses.replace(modes[FALLING], **mode)
    return System(modes, (dataclasses.replace(impact, **changed), apex))


def drop(system, duration=1.0, x=START, options=None):
    return simulate_step(system, FALLING, x, duration, U, 0.25, options)


def assert_says(step, status, *words):
    assert step.status == status
    for word in (*words, "in mode ", "at t = ", "x = ["):
        assert word in step.message


@pytest.mark.parametrize("closed_form", [True, False])
def test_all_is_well(closed_form):
    step = drop(ball_with(closed_form))
    assert (step.status, step.message) == ("ok", "")


@pytest.mark.parametrize("closed_form", [True, False])
def test_zeno(closed_form):
    step = drop(ball_with(closed_form), 5.0)
    assert_says(step, "zeno", "falling (1)", "20 events", "max_events")
    assert step.mode == step.events[-1].transition.target


@pytest.mark.parametrize("closed_form", [True, False])
@pytest.mark.parametrize("above", [0.0, 1e-11, -1e-11])
def test_a_ceiling_that_is_touched_is_grazed(closed_form, above):
    speed, height = 4.0, 4.0**2 / (2 * GRAVITY) + above
    system = ball_with(
        closed_form,
        guard=lambda t, x, u: height - x[0],
        guard_state=lambda t, x, u: np.array([-1.0, 0.0]),
        name="ceiling",
    )
    step = drop(system, 0.8, np.array([0.0, speed]))
    assert_says(step, "grazing", "falling (1)", "ceiling (1, 2)", "start a little off")
    assert step.mode == FALLING and step.events == ()
    np.testing.assert_allclose(step.state, [height, 0.0], atol=2e-5)


@pytest.mark.parametrize("closed_form", [True, False])
def test_a_ball_that_lies_on_the_floor_grazes_it(closed_form):
    step = drop(ball_with(closed_form), 0.1, np.zeros(2))
    assert_says(step, "grazing", "impact (1, 2)", "t = 0.25 s")
    assert np.array_equal(step.state, np.zeros(2))


def test_a_guard_crossed_too_slowly_is_grazed():
    """What is slow is for the user to say."""
    options = SimulationOptions(minimum_rate=5.0)
    assert drop(ball_with(), x=np.array([1.0, -2.5]), options=options).status == "ok"
    step = drop(ball_with(), options=options)
    assert_says(step, "grazing", "rate -4.43")


def test_a_state_that_stays_on_a_guard_is_no_event():
    system = ball_with(mode={"flow": lambda t, x, u: np.zeros(2)})
    step = drop(system, x=np.zeros(2))
    assert step.status == "ok" and step.events == ()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_flow_that_is_not_finite(bad):
    def flow(t, x, u):
        return np.array([x[1], -GRAVITY if x[0] > 0.5 else bad])

    with np.errstate(invalid="ignore"):
        step = drop(ball_with(mode={"flow": flow}))
    assert_says(step, "not_finite", "falling (1)", "the flow")
    assert np.isfinite(step.state).all() and step.state[0] == pytest.approx(0.5, abs=1e-6)


def test_a_closed_form_that_is_not_finite():
    ball = bouncing_ball().modes[FALLING]
    nowhere = ball.flow_map._replace(state=lambda t, x, u, h: x * np.nan)
    step = drop(ball_with(True, mode={"flow_map": nowhere}))
    assert_says(step, "not_finite", "the flow")


@pytest.mark.parametrize(
    "guard",
    [
        lambda t, x, u: np.nan,
        lambda t, x, u: np.nan if x[0] < 0.9 else x[0],
        lambda t, x, u: x[0] if x[0] > 0.0 else np.nan,
    ],
)
def test_a_guard_that_is_not_finite(guard):
    step = drop(ball_with(guard=guard))
    assert_says(step, "not_finite", "falling (1)", "the guard of impact (1, 2)")
    assert step.events == ()


def test_a_reset_that_is_not_finite():
    step = drop(ball_with(reset=lambda t, x, u: x * np.array([1.0, np.inf])))
    assert_says(step, "not_finite", "the reset of impact (1, 2)")
    assert step.mode == FALLING and np.isfinite(step.state).all()


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 1), (1, 2)])
def test_a_reset_of_the_wrong_dimension(shape):
    step = drop(ball_with(reset=lambda t, x, u: np.ones(shape)))
    assert_says(step, "wrong_dimension", "the reset of impact (1, 2)", str(shape), "(2,)")


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 1)])
@pytest.mark.parametrize("closed_form", [True, False])
def test_a_flow_of_the_wrong_dimension(closed_form, shape):
    mode = {"flow": lambda t, x, u: np.ones(shape)}
    if closed_form:
        flow_map = bouncing_ball().modes[FALLING].flow_map
        mode = {"flow_map": flow_map._replace(state=lambda t, x, u, h: np.ones(shape))}
    step = drop(ball_with(closed_form, mode=mode))
    assert_says(step, "wrong_dimension", "mode falling has shape", str(shape), "(2,)")


@pytest.mark.parametrize("x", [[1.0], [1.0, 0.0, 0.0], [[1.0, 0.0]], 1.0])
def test_a_state_of_the_wrong_dimension_is_refused(x):
    with pytest.raises(ValueError, match=r"mode 1 takes \(2,\)"):
        drop(ball_with(), x=x)


@pytest.mark.parametrize("u", [np.zeros(0), np.zeros(2), np.zeros((1, 1))])
def test_an_input_of_the_wrong_width_is_refused(u):
    with pytest.raises(ValueError, match=r"the system takes \(1,\)"):
        simulate_step(ball_with(), FALLING, START, 1.0, u)


def test_too_many_steps():
    options = SimulationOptions(max_step=1e-3, max_steps=100)
    step = drop(ball_with(), options=options)
    assert_says(step, "too_stiff", "100 integration steps", "max_steps")


def test_what_a_user_raises_is_not_hidden():
    def flow(t, x, u):
        if x[0] < 0.5:
            raise RuntimeError("below the table")
        return np.array([x[1], -GRAVITY])

    def guard(t, x, u):
        if x[0] < 0.5:
            raise RuntimeError("below the table")
        return x[0]

    for system in (ball_with(mode={"flow": flow}), ball_with(guard=guard)):
        with pytest.raises(RuntimeError, match="below the table"):
            drop(system)


@pytest.mark.parametrize("duration", [-0.1, np.nan])
def test_a_step_backward_in_time_is_refused(duration):
    with pytest.raises(ValueError, match="forward in time"):
        drop(ball_with(), duration)


def test_events_before_a_failure_are_kept():
    ball = bouncing_ball()
    impact, apex = ball.transitions
    broken = dataclasses.replace(apex, reset=lambda t, x, u: x * np.nan)
    step = drop(System(ball.modes, (impact, broken)))
    assert_says(step, "not_finite", "rising (2)", "apex (2, 1)")
    assert [event.transition.name for event in step.events] == ["impact"]
    assert step.mode == RISING and step.state[0] == pytest.approx(0.5625)
