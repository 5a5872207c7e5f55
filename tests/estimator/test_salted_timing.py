"""The map of a touchdown whose time both the guard and a sensor tell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from pytest import approx

from estimator.salted.advance import timed_reset
from robots.contact_dynamics import ContactDynamics
from robots.pinocchio_model import foot_frame_ids, load_pinocchio
from robots.stance_touchdown import Touchdown
from robots.state import difference, integrate
from robots.touchdown import impact, touchdown
from tests.a1 import A1, feet_in_world
from tests.differences import flow, slopes
from tests.estimator.salted_case import random_memory
from tests.robots.test_contact_dynamics import foot_jacobian

FOOT = 2
BEFORE, AFTER = np.array([1.0, 0.0, 0.0, 0.0]), np.array([1.0, 0.0, 1.0, 0.0])
MODEL = load_pinocchio(A1)
DYNAMICS = ContactDynamics(MODEL, foot_frame_ids(MODEL))
State = tuple[np.ndarray, np.ndarray]


def rate(q, v):
    return float(foot_jacobian(MODEL, q, [FOOT])[2] @ v)


def event(seed):
    """A state at touchdown of `FOOT` at more than 0.8 m/s, the other foot at rest; torques."""
    for k in range(100):
        m = random_memory(1000 * seed + k)
        v = impact(DYNAMICS, m.q, m.v, BEFORE).v_plus
        down = rate(m.q, v)
        if abs(down) > 0.8:
            return (m.q, -np.sign(down) * v), m.torque
    raise AssertionError("no brisk touchdown")


def land(x, tau, t):
    """Flow for t, stop, and flow the same time back."""
    q, v = flow(DYNAMICS, *x, tau, BEFORE, t)
    return flow(DYNAMICS, q, impact(DYNAMICS, q, v, AFTER).v_plus, tau, AFTER, -t)


def time_of_guard(x, tau, ground):
    t = 0.0
    for _ in range(6):
        q, v = flow(DYNAMICS, *x, tau, BEFORE, t)
        t -= (feet_in_world(q)[FOOT, 2] - ground) / rate(q, v)
    return t


@pytest.mark.parametrize("seed", range(4))
def test_guard_shift_is_what_another_height_of_the_ground_does(seed):
    """Ground that lies higher by g is a guard's value lower by g."""
    x, tau = event(seed)
    hit = touchdown(DYNAMICS, *x, tau, BEFORE, FOOT)
    ground = feet_in_world(x[0])[FOOT, 2]

    def end(higher):
        there = land(x, tau, time_of_guard(x, tau, ground - higher))
        return difference(x[0], hit.v_plus, *there)

    found = slopes(end, 0.0, 3e-6)
    assert_allclose(hit.guard_shift, found, atol=1e-4 * np.abs(found).max())


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kappa", [0.0, 0.3, 1.0])
def test_the_map_is_that_of_touchdowns_at_the_fused_time(seed, kappa):
    """kappa of the way from the sensor's time, which is fixed, to that of the guard."""
    x, tau = event(seed)
    hit = touchdown(DYNAMICS, *x, tau, BEFORE, FOOT)
    terrain, by_guard = 0.004, 0.004 / abs(hit.normal_velocity)
    delay = np.inf if kappa == 1.0 else by_guard * np.sqrt(kappa / (1.0 - kappa))
    timed = timed_reset(hit, terrain, delay)
    assert timed.kappa == approx(kappa)
    ground = feet_in_world(x[0])[FOOT, 2]

    def end(dx):
        start = integrate(*x, dx)
        there = land(start, tau, kappa * time_of_guard(start, tau, ground))
        return difference(x[0], hit.v_plus, *there)

    found = slopes(end, np.zeros(36), 3e-6)
    assert_allclose(timed.jacobian, found, atol=1e-4 * np.abs(found).max())


def hit_at(speed):
    """A touchdown with a given normal velocity; the matrices are told apart by their size."""
    ones = np.ones(36)
    return Touchdown(ones[:18], np.eye(36), 3.0 * np.eye(36), ones, -speed, True)


SPEED, LENGTH, TIME = st.floats(1e-3, 3.0), st.floats(1e-5, 0.1), st.floats(1e-5, 0.1)


@given(SPEED, LENGTH, TIME)
def test_the_two_times_are_fused_by_their_information(speed, terrain, delay):
    timed = timed_reset(hit_at(speed), terrain, delay)
    by_guard = terrain / speed
    fused = 1.0 / (1.0 / by_guard**2 + 1.0 / delay**2)
    assert 0.0 <= timed.kappa <= 1.0
    # What the time errs by along F+ - D R F-, per its speed there: guard_shift is per metre.
    assert timed.noise[0] / speed == approx(np.sqrt(fused))
    assert_allclose(timed.jacobian, (1.0 + 2.0 * timed.kappa) * np.eye(36))
