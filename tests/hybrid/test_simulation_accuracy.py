"""Simulations against closed forms where steps are long: narrow forcing, first crossings, resets.

Each is one that a simulator may get wrong with the status "ok". They are run with functions that
numba compiles, and with the same ones called as Python.
"""

import numpy as np
import pytest
from scipy.optimize import brentq

from hybrid.batch import simulate_batch
from hybrid.hilqr import Policies
from hybrid.hilqr.cost import QuadraticCost
from hybrid.hilqr.event_driven import EventDrivenModel
from hybrid.simulation import simulate
from hybrid.systems import Mode, System, Transition
from studies.kong.systems.spring_damper_ball import AERIAL, START, spring_damper_ball
from tests.hybrid.compiled_functions import with_numba

each_way = pytest.mark.parametrize("way", [with_numba, lambda s: s], ids=["compiled", "python"])
FLIGHT, LANDED = 1, 2


def one_mode(n, flow, guard=None, reset=None):
    """A mode without inputs that its only transition, if there is one, leads back to."""
    edges = () if guard is None else (Transition(FLIGHT, FLIGHT, guard, reset, name="impact"),)
    return System({FLIGHT: Mode("flight", n, 0, flow)}, edges)


# Forcing that is short beside the duration


def pulse(t, x, u):
    return np.array([np.exp(-(((t - 4.2) / 0.1) ** 2))])


def gust(t, x, u):
    return np.array([x[1], -9.8 + 40.0 * np.exp(-(((t - 1.0) / 0.05) ** 2))])


PULSE, GUST = one_mode(1, pulse), one_mode(2, gust)


@each_way
def test_a_gust_of_50_ms_in_a_fall(way):
    run = simulate(way(GUST), FLIGHT, np.array([20.0, 0.0]), 1.9)
    lifted = 40.0 * 0.9 * 0.05 * np.sqrt(np.pi)  # the pulse is symmetric about 1 s, 0.9 s before
    assert run.status == "ok"
    assert run.final_state[0] == pytest.approx(20.0 - 4.9 * 1.9**2 + lifted, abs=1e-8)


# Guards that fall to zero and stay there


def fall(t, x, u):
    return np.array([x[1], -9.8, 0.0])


def gap_or_slip(t, x, u):
    return max(x[0], -x[2])  # never below zero where x[2] is zero


def bounce(t, x, u):
    return np.array([x[0], -0.5 * x[1], x[2]])


FLAT = one_mode(3, fall, gap_or_slip, bounce)


@each_way
def test_a_guard_that_falls_to_zero_and_stays_there(way):
    run = simulate(way(FLAT), FLIGHT, np.array([1.0, 0.0, 0.0]), 0.6)
    impact, speed = np.sqrt(2.0 / 9.8), np.sqrt(2.0 * 9.8)
    left = 0.6 - impact
    assert run.status == "ok"
    np.testing.assert_allclose([event.time for event in run.events], [impact], atol=1e-9)
    end = [0.5 * speed * left - 4.9 * left**2, 0.5 * speed - 9.8 * left, 0.0]
    np.testing.assert_allclose(run.final_state, end, atol=1e-8)


# Flows in closed form


@pytest.mark.parametrize(("duration", "count"), [(1.2, 3), (1.3, 3), (2.0, 4)])
def test_flows_in_closed_form_have_the_events_of_integrated_ones(duration, count):
    """Event times are those of `solve_ivp`: DOP853 at 1e-13 with steps of at most 1 ms."""
    times = [0.6045556227003652, 0.75338672110949, 0.9289445884482661, 1.998952108923138]
    names = ["touchdown", "turn", "release", "touchdown"]
    system, x = spring_damper_ball(), np.array(START)
    run = simulate(system, AERIAL, x, duration)
    assert run.status == "ok"
    assert [event.transition.name for event in run.events] == names[:count]
    np.testing.assert_allclose([event.time for event in run.events], times[:count], atol=1e-9)
    batch = simulate_batch(system, AERIAL, x[None], duration)
    np.testing.assert_allclose(batch.event_times[0], times[:count], atol=1e-9)


# Many events


def sink(t, x, u):
    return np.array([-1.0 + u[0]])


def height(t, x, u):
    return x[0]


def lift(t, x, u):
    return np.array([0.01])


SAWTOOTH = System(
    {FLIGHT: Mode("sinking", 1, 1, sink)}, (Transition(FLIGHT, FLIGHT, height, lift, name="lift"),)
)


@each_way
def test_rollouts_of_more_than_256_events(way):
    steps, timestep = 200, 0.02
    cost = QuadraticCost.reaching(np.zeros(1), np.eye(1), np.eye(1))
    model = EventDrivenModel(way(SAWTOOTH), FLIGHT, timestep, cost)
    policies = Policies.of(
        np.zeros((steps + 1, 1)), np.zeros((steps, 1)), np.zeros((steps, 1, 1))
    )
    rollouts = model.roll_out(np.array([0.0055]), policies)
    assert rollouts.ok.all()
    events = rollouts.aux[0].events
    expected = 0.0055 + 0.01 * np.arange(400)
    np.testing.assert_allclose([each.event.time for each in events], expected, atol=1e-9)


# Resets that leave a guard at rounding error


def drop(t, x, u):
    return np.array([x[1], -9.81])


def rebound(t, x, u):
    return np.array([x[0], -0.9 * x[1]])


BALL = one_mode(2, drop, height, rebound)


def impacts(x, duration, gravity=9.81, restitution=0.9):
    """Times of the impacts of a ball, and its end, in closed form."""
    z, v, t, times = x[0], x[1], 0.0, []
    while True:
        speed = np.sqrt(v * v + 2.0 * gravity * z)
        flight = (v + speed) / gravity
        if t + flight > duration:
            left = duration - t
            return times, np.array([z + v * left - 0.5 * gravity * left**2, v - gravity * left])
        t, z, v = t + flight, 0.0, restitution * speed
        times.append(t)


@each_way
def test_500_balls_bounce_as_in_closed_form(way):
    system, rng = way(BALL), np.random.default_rng(0)
    for x in rng.uniform([0.3, -1.0], [2.0, 1.0], (500, 2)):
        run = simulate(system, FLIGHT, x, 3.0)
        times, end = impacts(x, 3.0)
        if len(times) == len(run.events) + 1:  # an impact within rounding of the end
            assert 3.0 - times[-1] < 1e-9
            continue
        assert run.status == "ok", run.message
        np.testing.assert_allclose([event.time for event in run.events], times, atol=1e-9)
        np.testing.assert_allclose(run.final_state, end, atol=1e-8)


# The first of several crossings


def ballistic(t, x, u):
    return np.array([x[2], x[3], 0.0, -9.81])


def above_the_hills(t, x, u):
    return x[1] - 0.3 * np.sin(5.0 * x[0])


def stay(t, x, u):
    return x.copy()


def rest(t, x, u):
    return np.zeros(4)


HILLS = System(
    {FLIGHT: Mode("flight", 4, 0, ballistic), LANDED: Mode("landed", 4, 0, rest)},
    (Transition(FLIGHT, LANDED, above_the_hills, stay, name="landing"),),
)


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
def test_600_flights_land_on_the_first_hill(way):
    system, rng, grazing, landings = way(HILLS), np.random.default_rng(0), 0, 0
    for z, vx, vz in rng.uniform([0.31, 0.0, -1.0], [1.0, 6.0, 1.0], (600, 3)):
        x = np.array([0.0, z, vx, vz])
        run, expected = simulate(system, FLIGHT, x, 1.0), first_landing(x)
        if expected is None:
            grazing += 1
            continue
        assert run.status == "ok", run.message
        times = [event.time for event in run.events]
        np.testing.assert_allclose(times, [] if np.isnan(expected) else [expected], atol=1e-9)
        landings += len(times)
    assert grazing < 6 and landings > 500
