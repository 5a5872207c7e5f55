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


@pytest.mark.parametrize("share", [0.0, 0.9, 1.3])
def test_a_body_stands_still_on_a_slope_within_the_cone(share):
    """The forces are the weight: along the slope W sin a, of which friction allows mu W cos a."""
    frame = slope(share * np.arctan(FRICTION))
    found = make(LIGHT, force_min=0.0).solve(STANDING, FEET, ALL, np.tile(frame, (4, 1, 1)))
    along = found.forces @ frame
    assert found.status == "ok" and within(along, ALL, 10.0)
    if share < 1.0:
        np.testing.assert_allclose(found.forces.sum(axis=0), STANDING[:3], atol=0.1)
        np.testing.assert_allclose(np.cross(FEET, found.forces).sum(axis=0), 0.0, atol=0.1)
    else:  # steeper than the cone: all friction
        assert along[:, 0].sum() == pytest.approx(FRICTION * along[:, 2].sum(), rel=1e-3)


@settings(max_examples=60, deadline=None)
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
