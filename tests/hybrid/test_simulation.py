"""Event-driven simulation: event times, several events in a step, Zeno, order of accuracy."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid.examples.bouncing_ball import FALLING, GRAVITY, RESTITUTION, RISING, bouncing_ball
from hybrid.integration import integrate
from hybrid.simulation import simulate_step
from hybrid.systems import System

REST = np.zeros(1)


def numerically_integrated_ball():
    """The same ball without its closed form, so that the integrator has to find the events."""
    ball = bouncing_ball()
    modes = {i: dataclasses.replace(mode, flow_map=None) for i, mode in ball.modes.items()}
    return System(modes, ball.transitions)


@pytest.mark.parametrize("make", [bouncing_ball, numerically_integrated_ball])
@settings(max_examples=20, deadline=None)
@given(height=st.floats(0.05, 4.0), velocity=st.floats(-5.0, -0.1), force=st.floats(-5.0, 5.0))
def test_impact_time_is_exact(make, height, velocity, force):
    a = force - GRAVITY
    exact = (-velocity - np.sqrt(velocity**2 - 2.0 * a * height)) / a
    step = simulate_step(
        make(), FALLING, np.array([height, velocity]), 1.5, force * np.ones(1), 2.0
    )
    met = step.events[0]
    assert met.time - 2.0 == pytest.approx(exact, abs=1e-10)
    assert abs(met.state_before[0]) < 1e-10
    assert met.state_after[1] == pytest.approx(-RESTITUTION * met.state_before[1])


def test_nonlinear_event_time_against_a_closed_form():
    """Fall with quadratic drag: v = -V tanh(g t / V), z = h - V^2/g log cosh(g t / V)."""
    ball, terminal = numerically_integrated_ball(), 3.0
    drag = GRAVITY / terminal**2

    def flow(t, x, u):
        return np.array([x[1], -GRAVITY + drag * x[1] ** 2])

    falling = dataclasses.replace(ball.modes[FALLING], flow=flow)
    system = System({**ball.modes, FALLING: falling}, ball.transitions)
    exact = terminal / GRAVITY * np.arccosh(np.exp(2.0 * GRAVITY / terminal**2))
    step = simulate_step(system, FALLING, np.array([2.0, 0.0]), 1.0, REST)
    assert step.events[0].time == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize("make", [bouncing_ball, numerically_integrated_ball])
def test_many_events_in_one_timestep(make):
    """Impacts shorten by e: 1 m drop, t_j = t_0 (1 + 2 e + 2 e^2 + ...)."""
    step = simulate_step(make(), FALLING, np.array([1.0, 0.0]), 2.6, REST)
    impacts = [event.time for event in step.events if event.transition.source == FALLING]
    first = np.sqrt(2.0 / GRAVITY)
    expected = first * (2.0 * np.cumsum(RESTITUTION ** np.arange(len(impacts))) - 1.0)
    assert step.status == "ok" and len(impacts) >= 4
    np.testing.assert_allclose(impacts, expected, atol=1e-9)
    sources = [event.transition.source for event in step.events]
    assert sources == [FALLING, RISING] * (len(sources) // 2) + [FALLING] * (len(sources) % 2)


def test_energy_never_grows_through_impacts():
    system, x, mode = bouncing_ball(), np.array([1.0, 0.0]), FALLING
    energy = [GRAVITY]
    for k in range(150):
        step = simulate_step(system, mode, x, 0.01, REST, 0.01 * k)
        x, mode = step.state, step.mode
        energy.append(GRAVITY * x[0] + 0.5 * x[1] ** 2)
    assert np.max(np.diff(energy)) < 1e-9
    assert energy[-1] < 0.5 * energy[0]


def test_time_may_run_backward_in_one_mode():
    def field(t, y):
        return np.array([y[1], -np.sin(y[0]) + np.cos(t)])

    end = integrate(field, 0.0, np.array([1.0, 0.0]), 1.0)
    np.testing.assert_allclose(integrate(field, 1.0, end, -1.0), [1.0, 0.0], atol=1e-9)
