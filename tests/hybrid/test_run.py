"""Executions: composition of flows, time invariance, dense output, stopping, inputs."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid.examples.bouncing_ball import FALLING, GRAVITY, RESTITUTION, RISING, bouncing_ball
from hybrid.simulation import simulate, simulate_step
from hybrid.systems import Mode, System, Transition

START = np.array([1.0, 0.0])


def pendulum_with_wall():
    """A damped pendulum that is pushed in time and strikes a wall: nothing in closed form."""

    def flow(t, x, u):
        return np.array([x[1], -5.0 * np.sin(x[0]) - 0.1 * x[1] + u[0] * np.cos(2.0 * t)])

    mode = Mode("swing", 2, 1, flow)
    wall = Transition(
        1, 1, lambda t, x, u: x[0] + 0.3, lambda t, x, u: np.array([x[0], -0.8 * x[1]]), name="wall"
    )
    return System({1: mode}, (wall,))


def without_closed_form():
    ball = bouncing_ball()
    modes = {i: dataclasses.replace(mode, flow_map=None) for i, mode in ball.modes.items()}
    return System(modes, ball.transitions)


SYSTEMS = [
    (bouncing_ball, FALLING, START),
    (without_closed_form, FALLING, START),
    (pendulum_with_wall, 1, np.array([1.0, 0.0])),
]


@pytest.mark.parametrize("make, mode, x", SYSTEMS)
@settings(max_examples=15)
@given(first=st.floats(0.0, 1.0), second=st.floats(0.0, 1.0), force=st.floats(-1.0, 1.0))
def test_flows_compose(make, mode, x, first, second, force):
    """Simulating for a and then for b is simulating for a + b."""
    system, u = make(), np.array([force])
    whole = simulate(system, mode, x, first + second, u)
    half = simulate(system, mode, x, first, u)
    rest = simulate(system, half.final_mode, half.final_state, second, u, t=half.final_time)
    assert rest.final_mode == whole.final_mode
    np.testing.assert_allclose(rest.final_state, whole.final_state, atol=1e-8)
    times = [event.time for event in half.events + rest.events]
    np.testing.assert_allclose(times, [event.time for event in whole.events], atol=1e-9)


@pytest.mark.parametrize("make, mode, x", SYSTEMS)
@settings(max_examples=15)
@given(shift=st.floats(-100.0, 100.0))
def test_an_autonomous_system_does_not_know_the_time(make, mode, x, shift):
    system = make()
    now, later = simulate(system, mode, x, 1.5), simulate(system, mode, x, 1.5, t=shift)
    assert len(now.events) == len(later.events) > 0
    np.testing.assert_allclose(later.final_state, now.final_state, atol=1e-9)
    for a, b in zip(now.events, later.events, strict=True):
        assert b.time - shift == pytest.approx(a.time, abs=1e-10)


@pytest.mark.parametrize("make", [bouncing_ball, without_closed_form])
def test_states_in_between_against_the_closed_form(make):
    run = simulate(make(), FALLING, START, 1.2)
    impact = np.sqrt(2.0 / GRAVITY)
    speed = RESTITUTION * GRAVITY * impact
    for t in np.linspace(0.0, 1.0, 41):
        mode, x = run.at(t)
        s = t - impact
        if s < 0.0:
            expected = np.array([1.0 - 0.5 * GRAVITY * t**2, -GRAVITY * t])
        else:
            expected = np.array([speed * s - 0.5 * GRAVITY * s**2, speed - GRAVITY * s])
        np.testing.assert_allclose(x, expected, atol=1e-9)
        assert mode == (RISING if 0.0 <= s < speed / GRAVITY else FALLING)


def test_a_time_outside_is_an_error():
    run = simulate(bouncing_ball(), FALLING, START, 1.2, t=1.0)
    for t in (0.9, 2.3, np.nan):
        with pytest.raises(ValueError, match="from 1.0 s to 2.2 s"):
            run.at(t)


def test_samples_to_plot_have_both_sides_of_events():
    run = simulate(bouncing_ball(), FALLING, START, 1.5)
    assert len(run.times) == len(run.states) == len(run.modes) >= 200
    assert np.all(np.diff(run.times) >= 0.0)
    assert np.sum(np.diff(run.times) == 0.0) == len(run.events)
    for t, x, mode in zip(run.times[::7], run.states[::7], run.modes[::7], strict=True):
        if t not in [event.time for event in run.events]:
            assert run.at(t)[0] == mode
            np.testing.assert_allclose(run.at(t)[1], x, atol=1e-12)


def test_until_ends_the_simulation_after_its_event():
    apex = simulate(
        bouncing_ball(), FALLING, START, 9.0, until=lambda event: event.transition.name == "apex"
    )
    assert apex.status == "stopped" and apex.message == ""
    assert [event.transition.name for event in apex.events] == ["impact", "apex"]
    assert apex.final_mode == FALLING
    assert apex.final_time == pytest.approx(np.sqrt(2.0 / GRAVITY) * (1.0 + RESTITUTION), abs=1e-11)
    mode, x = apex.at(apex.final_time)
    assert mode == FALLING
    np.testing.assert_allclose(x, [RESTITUTION**2, 0.0], atol=1e-12)


def test_an_event_that_never_comes_is_a_status():
    missed = simulate(bouncing_ball(), FALLING, START, 0.2, until=lambda event: True)
    assert missed.status == "no_event"
    for words in (
        "falling (1)",
        "t = 0.2 s",
        "x = [",
        "impact (1, 2) 0.804",
        "simulate for longer",
    ):
        assert words in missed.message
    assert simulate(bouncing_ball(), FALLING, START, 0.2).status == "ok"


def push(t):
    return np.array([np.sin(3.0 * t)])


@pytest.mark.parametrize("many", [True, False])
def test_inputs_are_held_over_timesteps(many):
    dt, system = 0.1, bouncing_ball()
    rows = np.array([push(k * dt) for k in range(14)])
    run = simulate(system, FALLING, START, 1.35, rows if many else push, timestep=dt)
    x, mode = START, FALLING
    for k in range(14):
        step = simulate_step(system, mode, x, min(dt, 1.35 - k * dt), rows[k], k * dt)
        x, mode = step.state, step.mode
    assert run.final_mode == mode and run.final_time == 1.35
    np.testing.assert_allclose(run.final_state, x, atol=1e-12)


@pytest.mark.parametrize(
    "mode, arguments, words",
    [
        (7, {}, r"modes \[1, 2\]"),
        (FALLING, {"inputs": np.zeros(2)}, r"takes \(1,\)"),
        (FALLING, {"inputs": np.zeros((20, 1))}, "need a timestep"),
        (FALLING, {"inputs": np.zeros((3, 1)), "timestep": 0.1}, "needs 10 inputs"),
        (FALLING, {"inputs": push}, "need a timestep"),
        (FALLING, {"timestep": 0.0}, "timestep"),
        (FALLING, {"duration": -1.0}, "duration"),
        (FALLING, {"duration": np.nan}, "duration"),
    ],
)
def test_what_does_not_fit_is_an_error(mode, arguments, words):
    with pytest.raises(ValueError, match=words):
        simulate(bouncing_ball(), mode, START, **{"duration": 1.0, **arguments})
