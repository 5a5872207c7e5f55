"""Event-driven simulation against closed forms, and by its laws.

Systems run with functions that numba compiles, with the same ones called as Python, and with and
without the closed form of their flows.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from pytest import approx
from scipy.optimize import brentq

from saltation.batch import simulate_batch
from saltation.examples.bouncing_ball import FALLING, GRAVITY, RESTITUTION, RISING, bouncing_ball
from saltation.hilqr.cost import QuadraticCost
from saltation.hilqr.event_driven import EventDrivenModel
from saltation.options import SimulationOptions
from saltation.simulation import simulate, simulate_step
from saltation.systems import FlowMap, Mode, System, Transition
from tests.saltation.compiled_functions import each_way, without_closed_forms
from tests.saltation.driven_systems import height, stay, swing, swing_for
from tests.saltation.rollouts import roll

NONE, HIGH = np.zeros(0), np.array([1.0, 0.0])
each_ball = pytest.mark.parametrize(
    "ball", [bouncing_ball(), without_closed_forms(bouncing_ball())], ids=["closed", "integrated"]
)


@pytest.mark.parametrize("scales", [(1.0, 7.0, 0.3), (0.3, 1.0, 7.0), (7.0, 0.3, 1.0)])
def test_a_tie_goes_to_the_transition_given_first(scales):
    mode = Mode("drift", 2, 0, lambda t, x, u: np.array([1.0, 0.5]))
    edges = [
        Transition(1, k, lambda t, x, u, s=s: s * (1.1 - x[0]) * (2.0 + x[1]), stay)
        for k, s in enumerate(scales, 2)
    ]
    step = simulate_step(System(dict.fromkeys(range(1, 5), mode), edges), 1, np.zeros(2), 2.0, NONE)
    assert [event.transition.target for event in step.events] == [2]


def test_a_shorter_longest_step_sees_more_turns():
    """Two dips within one closed-form step may be hidden: a step below a period shows them."""
    mode = Mode("swing", 2, 0, swing, flow_map=FlowMap(swing_for))
    system = System({1: mode, 2: mode}, [Transition(1, 2, lambda t, x, u: 0.9 + x[0], stay)])
    options = SimulationOptions(max_step=1.0)
    step = simulate_step(system, 1, HIGH, 12.5, NONE, options=options)
    assert step.events[0].time == approx(np.arccos(-0.9), abs=1e-10)


# What a simulator may get wrong with the status "ok"

FLIGHT, LANDED = 1, 2


def one_mode(n, flow, guard=None, reset=None):
    """A mode without inputs that its only transition, if there is one, leads back to."""
    edges = () if guard is None else (Transition(FLIGHT, FLIGHT, guard, reset, name="impact"),)
    return System({FLIGHT: Mode("flight", n, 0, flow)}, edges)


def gust(t, x, u):
    return np.array([x[1], -9.8 + 40.0 * np.exp(-(((t - 1.0) / 0.05) ** 2))])


@each_way
def test_a_gust_of_50_ms_in_a_fall(way):
    run = simulate(way(one_mode(2, gust)), FLIGHT, np.array([20.0, 0.0]), 1.9)
    lifted = 40.0 * 0.9 * 0.05 * np.sqrt(np.pi)  # the pulse is symmetric about 1 s, 0.9 s before
    assert run.status == "ok"
    assert run.final_state[0] == approx(20.0 - 4.9 * 1.9**2 + lifted, abs=1e-8)


def test_a_pulse_that_deceives_the_error_estimate():
    """A step over it was 16 times the tolerance off."""

    def flow(t, x, u):
        return np.array([2.0 + np.exp(-(((t - 0.57) / 0.06) ** 2))])

    run = simulate(one_mode(1, flow), FLIGHT, [0.5], 1.0, options=SimulationOptions(rtol=1e-6))
    assert run.final_state[0] == approx(2.5 + 0.06 * np.sqrt(np.pi), rel=3e-6)


def fall(t, x, u):
    return np.array([x[1], -9.8, 0.0])


def gap_or_slip(t, x, u):
    return max(x[0], -x[2])  # never below zero where x[2] is zero


def bounce(t, x, u):
    return np.array([x[0], -0.5 * x[1], x[2]])


@each_way
def test_a_guard_that_falls_to_zero_and_stays_there(way):
    system = way(one_mode(3, fall, gap_or_slip, bounce))
    run = simulate(system, FLIGHT, np.array([1.0, 0.0, 0.0]), 0.6)
    impact, speed = np.sqrt(2.0 / 9.8), np.sqrt(2.0 * 9.8)
    left = 0.6 - impact
    assert run.status == "ok"
    assert_allclose([event.time for event in run.events], [impact], atol=1e-9)
    end = [0.5 * speed * left - 4.9 * left**2, 0.5 * speed - 9.8 * left, 0.0]
    assert_allclose(run.final_state, end, atol=1e-8)


def sink(t, x, u):
    return np.array([-1.0 + u[0]])


def lift(t, x, u):
    return np.array([0.01])


@each_way
def test_rollouts_of_more_than_256_events(way):
    sawtooth = System({1: Mode("sinking", 1, 1, sink)}, [Transition(1, 1, height, lift)])
    cost = QuadraticCost.reaching(np.zeros(1), np.eye(1), np.eye(1))
    model = EventDrivenModel(way(sawtooth), 1, 0.02, cost)
    rollout = roll(model, np.array([0.0055]), np.zeros((200, 1)))
    times = [each.event.time for each in rollout.aux.events]
    assert_allclose(times, 0.0055 + 0.01 * np.arange(400), atol=1e-9)


def ballistic(t, x, u):
    return np.array([x[2], x[3], 0.0, -9.81])


def above_the_hills(t, x, u):
    return x[1] - 0.3 * np.sin(5.0 * x[0])


def rest(t, x, u):
    return np.zeros(4)


def first_landing(x):
    """The first landing [s] of a flight of 1 s from a dense grid of its closed form.

    NaN where there is none; None where the flight comes within 1e-6 of grazing a hill.
    """

    def clearance(t):
        return x[1] + x[3] * t - 4.905 * t * t - 0.3 * np.sin(5.0 * (x[0] + x[2] * t))

    t = np.linspace(0.0, 1.0, 20_001)
    g = clearance(t)
    inside = np.flatnonzero(g <= 0.0)
    before = g[: inside[0]] if len(inside) else g
    lows = before[1:-1][(before[1:-1] <= before[:-2]) & (before[1:-1] <= before[2:])]
    if len(lows) and lows.min() < 1e-6:
        return None
    if not len(inside):
        return np.nan
    return brentq(clearance, t[inside[0] - 1], t[inside[0]], xtol=1e-14)


@each_way
def test_flights_land_on_the_first_hill(way):
    modes = {FLIGHT: Mode("flight", 4, 0, ballistic), LANDED: Mode("landed", 4, 0, rest)}
    system = way(System(modes, [Transition(FLIGHT, LANDED, above_the_hills, stay)]))
    rng, grazing, landings = np.random.default_rng(0), 0, 0
    for z, vx, vz in rng.uniform([0.31, 0.0, -1.0], [1.0, 6.0, 1.0], (300, 3)):
        x = np.array([0.0, z, vx, vz])
        run, expected = simulate(system, FLIGHT, x, 1.0), first_landing(x)
        if expected is None:
            grazing += 1
            continue
        assert run.status == "ok", run.message
        times = [event.time for event in run.events]
        assert_allclose(times, [] if np.isnan(expected) else [expected], atol=1e-9)
        landings += len(times)
    assert grazing < 6 and landings > 250


# Laws


def pendulum_with_wall():
    """A damped pendulum that is pushed in time and strikes a wall: nothing in closed form."""

    def flow(t, x, u):
        return np.array([x[1], -5.0 * np.sin(x[0]) - 0.1 * x[1] + u[0] * np.cos(2.0 * t)])

    def back(t, x, u):
        return np.array([x[0], -0.8 * x[1]])

    wall = Transition(FALLING, FALLING, lambda t, x, u: x[0] + 0.3, back, name="wall")
    return System({FALLING: Mode("swing", 2, 1, flow)}, (wall,))


each_system = pytest.mark.parametrize(
    "system", [bouncing_ball(), without_closed_forms(bouncing_ball()), pendulum_with_wall()]
)


@each_system
@settings(max_examples=15)
@given(first=st.floats(0.0, 1.0), second=st.floats(0.0, 1.0), force=st.floats(-1.0, 1.0))
def test_flows_compose(system, first, second, force):
    """Simulating for a and then for b is simulating for a + b."""
    u = np.array([force])
    whole = simulate(system, FALLING, HIGH, first + second, u)
    half = simulate(system, FALLING, HIGH, first, u)
    rest = simulate(system, half.final_mode, half.final_state, second, u, t=half.final_time)
    assert rest.final_mode == whole.final_mode
    assert_allclose(rest.final_state, whole.final_state, atol=1e-8)
    times = [event.time for event in half.events + rest.events]
    assert_allclose(times, [event.time for event in whole.events], atol=1e-9)


# A run


@each_ball
def test_states_in_between_against_the_closed_form(ball):
    run = simulate(ball, FALLING, HIGH, 1.2)
    impact = np.sqrt(2.0 / GRAVITY)
    speed = RESTITUTION * GRAVITY * impact
    for t in np.linspace(0.0, 1.0, 41):
        s = t - impact
        expected = [1.0 - 0.5 * GRAVITY * t**2, -GRAVITY * t]
        if s >= 0.0:
            expected = [speed * s - 0.5 * GRAVITY * s**2, speed - GRAVITY * s]
        mode, x = run.at(t)
        assert_allclose(x, expected, atol=1e-9)
        assert mode == (RISING if 0.0 <= s < speed / GRAVITY else FALLING)
    for t in (-0.1, 1.3, np.nan):
        with pytest.raises(ValueError, match=r"1\.2 s"):
            run.at(t)


def test_samples_to_plot_have_both_sides_of_events():
    run = simulate(bouncing_ball(), FALLING, HIGH, 1.5)
    assert len(run.times) == len(run.states) == len(run.modes) >= 200
    assert np.all(np.diff(run.times) >= 0.0)
    assert np.sum(np.diff(run.times) == 0.0) == len(run.events)


def test_until_ends_the_simulation_after_its_event():
    def at_apex(event):
        return event.transition.name == "apex"

    apex = simulate(bouncing_ball(), FALLING, HIGH, 9.0, until=at_apex)
    assert (apex.status, apex.message, apex.final_mode) == ("stopped", "", FALLING)
    assert [event.transition.name for event in apex.events] == ["impact", "apex"]
    assert apex.final_time == approx(np.sqrt(2.0 / GRAVITY) * (1.0 + RESTITUTION), abs=1e-11)
    assert_allclose(apex.final_state, [RESTITUTION**2, 0.0], atol=1e-12)
    missed = simulate(bouncing_ball(), FALLING, HIGH, 0.2, until=at_apex)
    assert missed.status == "no_event"
    for words in ("falling (1)", "t = 0.2 s", "impact (1, 2) 0.804"):
        assert words in missed.message


def push(t):
    return np.array([np.sin(3.0 * t)])


@pytest.mark.parametrize("many", [True, False])
def test_inputs_are_held_over_timesteps(many):
    dt, system = 0.1, bouncing_ball()
    rows = np.array([push(k * dt) for k in range(14)])
    run = simulate(system, FALLING, HIGH, 1.35, rows if many else push, timestep=dt)
    x, mode = HIGH, FALLING
    for k in range(14):
        step = simulate_step(system, mode, x, min(dt, 1.35 - k * dt), rows[k], k * dt)
        x, mode = step.state, step.mode
    assert run.final_mode == mode and run.final_time == 1.35
    assert_allclose(run.final_state, x, atol=1e-12)


@each_way
def test_arrays_that_must_not_be_written_and_whole_numbers_are_states(way):
    mode = Mode("push", 2, 1, lambda t, x, u: np.array([x[1], u[0]]))
    system, u = way(System({1: mode}, ())), np.ones(1)
    x = HIGH.copy()
    x.flags.writeable = u.flags.writeable = False
    for start in (x, [1, 0]):
        assert simulate(system, 1, start, 2.0, u).final_state[0] == approx(3.0)
        assert simulate_step(system, 1, start, 2.0, u).state[0] == approx(3.0)
        batch = simulate_batch(system, 1, np.array([start]), 2.0, u)
        assert batch.states[0, 0] == approx(3.0)
