"""The driven reference: laws of its path, strides, footholds, joints and torques."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from pytest import approx

from controller.driving.commands import Goal
from controller.driving.course import COLUMNS, extend_path
from controller.driving.reference import DrivenReference
from controller.gaits import GAITS
from controller.options import DriveOptions, GaitLimits
from robots.rotations import rotation_from_quaternion
from robots.state import difference
from tests.a1 import A1, feet_in_world

PERIOD, KNOTS = 0.01, 50
MOVING = ["walk", "trot", "bound"]


def options_of(acceleration):
    """The same acceleration for every gait [m/s^2]."""
    limits = GaitLimits(2.0, 1.0, 2.0, acceleration)
    return DriveOptions(walk=limits, trot=limits, bound=limits)


def state_at(place):
    """A robot (37) at x, y [m] and yaw [rad]."""
    state = np.zeros(37)
    state[:2], state[2] = place[:2], 0.28
    state[5], state[6] = np.sin(0.5 * place[2]), np.cos(0.5 * place[2])
    return state


def random_goal(rng, gait):
    forward, left, yaw_rate = rng.uniform(-1.0, 1.0, 3) * (0.5, 0.2, 0.8)
    return Goal(forward, left, yaw_rate, None, gait)


@pytest.mark.parametrize("seed", range(6))
def test_feet_that_stand_do_not_slide_however_it_turns(seed):
    rng = np.random.default_rng(seed)
    driven = DrivenReference(DriveOptions(), A1, PERIOD)
    for k in range(0, 400, 5):
        if k % 60 == 0:
            driven.course.goal = random_goal(rng, str(rng.choice([*MOVING, "stand"])))
        window = driven.window(k, KNOTS)
        feet = np.array([feet_in_world(q) for q in window.q])
        for foot in range(4):
            stands = window.contacts[:, foot] > 0.5
            reached = window.q[:, 7 + 3 * foot + 2] < A1.legs.upper[2] - 1e-9  # not at full stretch
            both = stands[1:] & stands[:-1] & reached[1:] & reached[:-1]
            assert both.sum() > 0.2 * KNOTS
            assert_allclose(feet[1:, foot][both], feet[:-1, foot][both], atol=1e-9)
        inside = (window.q[:, 7:] >= A1.legs.lower) & (window.q[:, 7:] <= A1.legs.upper)
        assert inside.all()


@pytest.mark.parametrize("gait", MOVING)
def test_velocities_are_those_of_the_configurations(gait):
    """Of a reference with knots a tenth of a millisecond apart, by central differences."""
    driven = DrivenReference(DriveOptions(), A1, 1e-4)
    driven.course.goal = Goal(0.3, 0.1, 0.5, 0.27, gait)
    window = driven.window(2000, 3000)
    zero = np.zeros(18)
    for k in range(10, 2990, 41):
        step = difference(window.q[k - 1], zero, window.q[k + 1], zero)[:18]
        rotation = rotation_from_quaternion(window.q[k, 3:7])
        before = rotation_from_quaternion(window.q[k - 1, 3:7])
        step[:3] = rotation.T @ before @ step[:3]
        assert_allclose(step / 2e-4, window.v[k], atol=2e-3)


@given(st.lists(st.floats(-3.0, 3.0), min_size=4, max_size=4), st.floats(0.1, 5.0))
def test_rates_of_change_are_bounded_and_the_goal_is_reached(goal, most):
    path = np.zeros((4000, COLUMNS))
    extend_path(path, np.array(goal), np.full(4, most), PERIOD)
    rates = np.diff(path[:, 3:], axis=0) / PERIOD
    assert np.abs(rates).max() <= most * (1.0 + 1e-9)
    assert_allclose(path[-1, 3:], goal, atol=1e-12)


def contacts_of(driven, knots, goals):
    """Of knots that are made one by one, with goals that change at some of them."""
    rows = []
    for k in range(knots):
        driven.course.goal = goals.get(k, driven.course.goal)
        rows.append(driven.window(k, 1).contacts[0])
    return np.array(rows)


def test_a_foot_swings_as_long_as_its_gait_says_whenever_gaits_change():
    rng = np.random.default_rng(1)
    goals = {k: random_goal(rng, str(rng.choice([*MOVING, "stand"]))) for k in range(50, 3000, 97)}
    contacts = contacts_of(DrivenReference(DriveOptions(), A1, PERIOD), 3000, goals)
    allowed = {round(GAITS[gait].swing_duration / PERIOD, 1) for gait in MOVING}
    for foot in range(4):
        changes = np.flatnonzero(np.diff(contacts[:, foot]))
        swings = changes[1::2] - changes[: 2 * (len(changes) // 2) : 2]
        assert all(min(abs(each - knots) for knots in allowed) < 1.0 for each in swings.tolist())
        assert len(swings) > 30


def test_it_stands_only_once_it_has_come_to_rest():
    driven = DrivenReference(options_of(0.5), A1, PERIOD)
    goals = {0: Goal(0.5, gait="trot"), 200: Goal(0.5, gait="stand")}
    contacts = contacts_of(driven, 400, goals)
    last_swing = int(np.flatnonzero((contacts < 0.5).any(axis=1))[-1])
    assert 200 + 96 <= last_swing <= 200 + 96 + 44  # 1 s to come to rest, then the stride's end
    assert not driven.course.base[3:6].any()
    assert_allclose(
        driven.window(400, 1).q[0, 7:], A1.stand, atol=0.02
    )  # near enough to its neutral posture


@pytest.mark.parametrize("place, yaw", [((1.0, -2.0), 2.5), ((0.1, 0.0), -0.1)])
def test_it_follows_a_robot_that_is_pushed_away_without_a_change_of_its_joints(place, yaw):
    free, led = (DrivenReference(DriveOptions(), A1, PERIOD) for _ in range(2))
    for each in (free, led):
        each.course.goal = Goal(0.3, 0.0, 0.4, None, "trot")
        each.window(0, KNOTS, state_at(np.zeros(3)))
        each.window(150, KNOTS)
    base = led.course.base[:3].copy()
    a, b = free.window(150, KNOTS), led.window(150, KNOTS, state_at(base + (*place, yaw)))
    moved = led.course.base[:3] - base - (*place, yaw)
    assert np.hypot(*moved[:2]) == approx(min(0.25, np.hypot(*place)))
    assert abs(moved[2]) == approx(min(0.5, abs(yaw)))
    for name in ("v", "inputs"):
        assert_allclose(getattr(a, name), getattr(b, name), atol=1e-6)
    assert_allclose(a.q[:, 7:], b.q[:, 7:], atol=1e-9)
