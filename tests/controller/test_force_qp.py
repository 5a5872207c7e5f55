"""Instant QP's problem: wrenches that feet can give are given, others as far as limits allow."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from controller.centroidal.instant_qp import ForceQp, wrench_map
from controller.centroidal.qp import along_axes, level_frames
from controller.planner_options import ForceQpWeights
from robots.conventions import GRAVITY
from robots.rotations import exp3
from tests.a1 import A1

WEIGHT = A1.mass * GRAVITY
FRICTION, FORCE_MAX, FORCE_MIN = 0.6, 200.0, 5.0
FEET = np.array(
    [[0.18, -0.13, -0.3], [0.18, 0.13, -0.3], [-0.18, -0.13, -0.3], [-0.18, 0.13, -0.3]]
)
ALL = np.ones(4)
LEVEL = level_frames((4,))
LIGHT = ForceQpWeights(force=1e-5, change=0.0)
STANDING = np.array([0.0, 0.0, WEIGHT, 0.0, 0.0, 0.0])


def make(weights=None, **options):
    limits = {"friction": FRICTION, "force_max": FORCE_MAX, "force_min": FORCE_MIN}
    return ForceQp(**{**limits, **options}, weights=weights)


def within(forces, contacts, rounding=0.0):
    on, normal = contacts > 0.5, forces[:, 2]
    return (
        (forces[~on] == 0.0).all()
        and (np.abs(forces[:, :2]).max(axis=1) <= FRICTION * normal + 1e-9).all()
        and (normal[on] >= FORCE_MIN - rounding).all()
        and (normal[on] <= FORCE_MAX + rounding).all()
    )


def test_the_map_is_force_and_moment():
    rng = np.random.default_rng(0)
    arms, forces = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    expected = np.concatenate((forces.sum(axis=0), np.cross(arms, forces).sum(axis=0)))
    np.testing.assert_allclose(wrench_map(arms, ALL, LEVEL) @ forces.ravel(), expected, atol=1e-12)
    assert (wrench_map(arms, np.array([1.0, 0.0, 1.0, 1.0]), LEVEL)[:, 3:6] == 0.0).all()


def test_standing_forces_carry_the_weight_without_moment():
    found = make().solve(STANDING, FEET, ALL)
    assert found.status == "ok"
    np.testing.assert_allclose(found.forces.sum(axis=0), [0.0, 0.0, WEIGHT], atol=0.1)
    np.testing.assert_allclose(np.cross(FEET, found.forces).sum(axis=0), 0.0, atol=0.02)
    np.testing.assert_allclose(found.forces[:, 2], WEIGHT / 4.0, atol=0.1)


@pytest.mark.parametrize("seed", range(6))
def test_a_wrench_that_can_be_reached_is_reached(seed):
    rng = np.random.default_rng(seed)
    forces = rng.uniform([-15.0, -15.0, 40.0], [15.0, 15.0, 80.0], (4, 3))
    arms = FEET + 0.02 * rng.normal(size=(4, 3))
    wrench = wrench_map(arms, ALL, LEVEL) @ forces.ravel()
    found = make(LIGHT).solve(wrench, arms, ALL)
    given = wrench_map(arms, ALL, LEVEL) @ found.forces.ravel()
    np.testing.assert_allclose(given, wrench, atol=0.05)


@pytest.mark.parametrize("seed", range(6))
def test_against_bounded_least_squares(seed):
    """With friction this high the limits of the normal force alone matter: a problem in a box."""
    rng, weights = np.random.default_rng(seed), ForceQpWeights()
    wrench = STANDING + rng.normal(size=6) * [20.0, 20.0, 150.0, 20.0, 20.0, 5.0]
    contacts = (rng.random(4) < 0.7).astype(float)
    contacts[0] = 1.0
    found = make(friction=1e3).solve(wrench, FEET, contacts).forces
    on, root = np.repeat(contacts > 0.5, 3), np.sqrt(weights.wrench)
    forward = root[:, None] * wrench_map(FEET, contacts, LEVEL)[:, on]
    ridge = np.sqrt(weights.force + weights.change) * np.eye(on.sum())
    feet = int(contacts.sum())
    low = np.tile([-np.inf, -np.inf, FORCE_MIN], feet)
    high = np.tile([np.inf, np.inf, FORCE_MAX], feet)
    best = lsq_linear(
        np.vstack((forward, ridge)), np.concatenate((root * wrench, np.zeros(on.sum()))),
        (low, high), tol=1e-13,
    )  # fmt: skip
    np.testing.assert_allclose(found.ravel()[on], best.x, atol=0.5)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.floats(-1e3, 1e3), min_size=6, max_size=6),
    st.lists(st.sampled_from([0.0, 1.0]), min_size=4, max_size=4),
)
def test_limits_always_hold(wrench, contacts):
    found = SHARED.solve(np.array(wrench), FEET, np.array(contacts))
    assert found.status == "ok" and within(found.forces, np.array(contacts))


SHARED = make()


def slope(angle):
    """Axes of a plane that rises along x by `angle` [rad]."""
    return exp3(np.array([0.0, -angle, 0.0]))


def test_a_slope_is_the_level_problem_turned_with_its_gravity():
    """Weights that are the same in all directions see no difference."""
    rng, shared = np.random.default_rng(4), {"force": 1e-3, "change": 1e-3}
    weights = ForceQpWeights(wrench=(1.0, 1.0, 1.0, 20.0, 20.0, 20.0), **shared)
    level, turned = make(weights), make(weights)
    turn = exp3(np.array([0.3, -0.5, 0.2]))
    for _ in range(5):  # with what is remembered
        wrench = STANDING + rng.normal(size=6) * [40.0, 40.0, 60.0, 20.0, 20.0, 5.0]
        flat = level.solve(wrench, FEET, ALL)
        found = turned.solve(
            np.concatenate((turn @ wrench[:3], turn @ wrench[3:])), FEET @ turn.T, ALL,
            np.tile(turn, (4, 1, 1)),
        )  # fmt: skip
        assert flat.status == found.status == "ok"
        np.testing.assert_allclose(found.forces, flat.forces @ turn.T, atol=0.02)


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_body_stands_still_on_a_slope_within_the_cone(share):
    """The forces are the weight: along the slope W sin a, of which friction allows mu W cos a."""
    angle = share * np.arctan(FRICTION)
    frame = slope(angle)
    found = make(LIGHT, force_min=0.0).solve(STANDING, FEET, ALL, np.tile(frame, (4, 1, 1)))
    np.testing.assert_allclose(found.forces.sum(axis=0), STANDING[:3], atol=0.1)
    along = found.forces @ frame
    np.testing.assert_allclose(
        along.sum(axis=0), WEIGHT * np.array([np.sin(angle), 0.0, np.cos(angle)]), atol=0.1
    )
    assert (np.abs(along[:, :2]).max(axis=1) <= FRICTION * along[:, 2] + 1e-9).all()


def test_a_slope_steeper_than_the_cone_takes_all_friction_along_it():
    frame = slope(1.3 * np.arctan(FRICTION))
    forces = make(LIGHT).solve(STANDING, FEET, ALL, np.tile(frame, (4, 1, 1))).forces @ frame
    assert within(forces, ALL, 1e-9)
    assert forces[:, 0].sum() == pytest.approx(FRICTION * forces[:, 2].sum(), rel=1e-3)


def test_a_push_along_the_normal_of_a_steep_slope_is_given():
    """It lies in the middle of the slope's cone, and outside that about the vertical."""
    frame = slope(1.3 * np.arctan(FRICTION))
    wrench = np.concatenate((WEIGHT * frame[:, 2], np.zeros(3)))
    arms = FEET @ frame.T
    found = make(LIGHT).solve(wrench, arms, ALL, np.tile(frame, (4, 1, 1))).forces
    np.testing.assert_allclose(found, np.tile(WEIGHT / 4.0 * frame[:, 2], (4, 1)), atol=0.1)
    vertical = make(LIGHT).solve(wrench, arms, ALL).forces
    assert np.linalg.norm(vertical.sum(axis=0) - wrench[:3]) > 0.05 * WEIGHT


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(-1e3, 1e3), min_size=6, max_size=6),
    st.lists(st.sampled_from([0.0, 1.0]), min_size=4, max_size=4),
    st.lists(st.floats(-0.7, 0.7), min_size=12, max_size=12),
)
def test_limits_hold_about_the_normal_of_each_foot(wrench, contacts, tilts):
    frames = np.array([exp3(np.array(tilt)) for tilt in np.reshape(tilts, (4, 3))])
    found = SHARED.solve(np.array(wrench), FEET, np.array(contacts), frames)
    assert found.status == "ok"
    assert within(along_axes(frames.transpose(0, 2, 1), found.forces), np.array(contacts), 1e-9)


def test_change_holds_forces_back():
    """With a weight on change alone, the last forces are approached step by step."""
    slow = make(ForceQpWeights(force=0.0, change=1.0))
    first = slow.solve(STANDING, FEET, ALL).forces[:, 2].sum()
    second = slow.solve(STANDING, FEET, ALL).forces[:, 2].sum()
    assert 0.0 < WEIGHT - second < WEIGHT - first < 0.3 * WEIGHT


def test_in_the_air_there_are_no_forces():
    qp = make()
    qp.solve(STANDING, FEET, ALL)
    found = qp.solve(STANDING, FEET, np.zeros(4))
    assert found.status == "ok" and (found.forces == 0.0).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
@pytest.mark.parametrize("place", [0, 1])
def test_bad_numbers_are_a_status_and_leave_no_trace(bad, place):
    qp = make()
    good = qp.solve(STANDING, FEET, ALL)
    broken = [STANDING.copy(), FEET.copy()]
    broken[place].ravel()[-1] = bad
    found = qp.solve(*broken, ALL)
    assert found.status == "failed"
    assert within(found.forces, ALL)
    again = qp.solve(STANDING, FEET, ALL)
    assert again.status == "ok"
    np.testing.assert_allclose(again.forces, good.forces, atol=0.5)


def test_options_are_checked():
    with pytest.raises(ValueError, match="above 0"):
        ForceQpWeights(force=0.0, change=0.0)
    with pytest.raises(ValueError, match="force is -1; give 0 to"):
        ForceQpWeights(force=-1.0)
