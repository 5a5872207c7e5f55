"""A plan as a function of time: knots, the manifold between them, touchdowns, the ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx

from controller.plan_function import PlanFunction
from robots.rotations import exp3, rotation_from_quaternion
from robots.state import difference, integrate
from tests.controller.tracker_messages import near_standing, nominal, plan, policy, standing

PERIOD = 0.01


@pytest.mark.parametrize("alpha", [0.0, 0.25, 0.5, 0.9])
def test_nominal_is_the_geodesic_between_knots(alpha):
    """A base turning by 0.3 rad about one axis while its joints move linearly."""
    axis = np.array([0.6, 0.0, 0.8])
    q0, v0 = standing()
    dx = np.zeros(36)
    dx[3:6], dx[6:18], dx[18:] = 0.3 * axis, 0.1, 1.0
    q1, v1 = integrate(q0, v0, dx)
    p = plan(knots=1)
    p = replace(p, states_q=np.array([q0, q1]), states_v=np.array([v0, v1]))
    q, v = nominal(p, alpha * PERIOD)
    assert_allclose(rotation_from_quaternion(q[3:7]), exp3(alpha * 0.3 * axis), atol=1e-12)
    assert_allclose(q[7:], q0[7:] + alpha * 0.1, atol=1e-12)
    assert_allclose(v, alpha * np.ones(18), atol=1e-12)
    assert np.linalg.norm(q[3:7]) == approx(1.0, abs=1e-14)


def test_velocity_is_never_a_mixture_across_a_touchdown():
    p = plan(rng=np.random.default_rng(3))
    contacts = p.contacts.copy()
    contacts[:8, 1] = 0.0  # the front left foot lands at knot 8
    p = replace(p, contacts=contacts)
    for k, alpha in ((7, 0.3), (7, 0.7), (8, 0.3), (8, 0.7)):
        q, v = nominal(p, (k + alpha) * PERIOD)
        assert_array_equal(v, p.states_v[k + (alpha >= 0.5)])
        joints = (1 - alpha) * p.states_q[k, 7:] + alpha * p.states_q[k + 1, 7:]
        assert_allclose(q[7:], joints, atol=1e-12)
    _, v = nominal(p, 6.5 * PERIOD)
    assert_allclose(v, 0.5 * (p.states_v[6] + p.states_v[7]), atol=1e-12)


FIELDS = ["states_q", "states_v", "inputs", "gains", "contacts"]


@settings(max_examples=80)
@given(st.integers(0, 2**32 - 1), st.sampled_from(FIELDS), st.sampled_from([np.nan, np.inf, 1e300]))
def test_whether_a_plan_is_sound_is_what_numpy_says(seed, field, value):
    """One number of it may be odd, and a quaternion too long or too short."""
    rng = np.random.default_rng(seed)
    p = plan(rng=rng, knots=int(rng.integers(1, 12)))
    numbers = getattr(p, field)
    if rng.random() < 0.7:
        numbers.flat[rng.integers(numbers.size)] = value
    p.states_q[rng.integers(len(p.states_q)), 3:7] *= rng.choice([1.0, 1.005, 1.02, 0.98])
    arrays = [getattr(p, name) for name in FIELDS]
    with np.errstate(all="ignore"):
        square = (p.states_q[:, 3:7] ** 2).sum(axis=1)
    expected = all(np.isfinite(each).all() for each in arrays)
    expected &= bool(np.all((square >= 0.98) & (square <= 1.02)))
    assert PlanFunction(p).is_sound == expected


def test_past_the_horizon_the_last_knot_is_held_and_flagged():
    rng = np.random.default_rng(4)
    p = plan(rng=rng)
    q, v = near_standing(rng)
    assert PlanFunction(p).end == approx(0.2)
    assert not policy(p, q, v, 0.2 - 1e-6).ended
    dx = difference(p.states_q[-1], p.states_v[-1], q, v)
    for now in (0.2, 0.21, 1e6):
        point = policy(p, q, v, now)
        assert point.ended
        assert_allclose(point.torque, p.inputs[-1] + p.gains[-1] @ dx, atol=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.7])
def test_input_and_gain_of_a_knot_are_held_until_the_next(share):
    rng = np.random.default_rng(0)
    p = plan(rng=rng, tick=37)
    q, v = near_standing(rng)
    before = policy(p, q, v, p.time - 1.0)
    assert_allclose(before.q, p.states_q[0], atol=1e-12)
    for k in range(len(p.inputs)):
        point = policy(p, q, v, p.time + (k + share) * PERIOD)
        dx = difference(point.q, point.v, q, v)
        assert point.knot == k and not point.ended
        assert_allclose(point.torque, p.inputs[k] + p.gains[k] @ dx, atol=1e-9)
        if share == 0.0:
            assert_allclose(point.q, p.states_q[k], atol=1e-9)
