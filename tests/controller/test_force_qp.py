"""Instant QP's problem: wrenches that feet can give are given, others as far as limits allow."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from controller.centroidal.force_qp import ForceQp, wrench_map
from controller.centroidal.options import ForceQpWeights
from robots.a1.constants import GRAVITY, TOTAL_MASS

WEIGHT = TOTAL_MASS * GRAVITY
FRICTION, FORCE_MAX, FORCE_MIN = 0.6, 200.0, 5.0
FEET = np.array(
    [[0.18, -0.13, -0.3], [0.18, 0.13, -0.3], [-0.18, -0.13, -0.3], [-0.18, 0.13, -0.3]]
)
ALL = np.ones(4)
LIGHT = ForceQpWeights(force=1e-5, change=0.0)
STANDING = np.array([0.0, 0.0, WEIGHT, 0.0, 0.0, 0.0])


def make(weights=None, **options):
    limits = {"friction": FRICTION, "force_max": FORCE_MAX, "force_min": FORCE_MIN}
    return ForceQp(**{**limits, **options}, weights=weights)


def within(forces, contacts):
    on, normal = contacts > 0.5, forces[:, 2]
    return (
        (forces[~on] == 0.0).all()
        and (np.abs(forces[:, :2]).max(axis=1) <= FRICTION * normal + 1e-9).all()
        and (normal[on] >= FORCE_MIN).all()
        and (normal[on] <= FORCE_MAX).all()
    )


def test_the_map_is_force_and_moment():
    rng = np.random.default_rng(0)
    arms, forces = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    expected = np.concatenate((forces.sum(axis=0), np.cross(arms, forces).sum(axis=0)))
    np.testing.assert_allclose(wrench_map(arms, ALL) @ forces.ravel(), expected, atol=1e-12)
    assert (wrench_map(arms, np.array([1.0, 0.0, 1.0, 1.0]))[:, 3:6] == 0.0).all()


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
    wrench = wrench_map(arms, ALL) @ forces.ravel()
    found = make(LIGHT).solve(wrench, arms, ALL)
    np.testing.assert_allclose(wrench_map(arms, ALL) @ found.forces.ravel(), wrench, atol=0.05)


@pytest.mark.parametrize("seed", range(6))
def test_against_bounded_least_squares(seed):
    """With friction this high the limits of the normal force alone matter: a problem in a box."""
    rng, weights = np.random.default_rng(seed), ForceQpWeights()
    wrench = STANDING + rng.normal(size=6) * [20.0, 20.0, 150.0, 20.0, 20.0, 5.0]
    contacts = (rng.random(4) < 0.7).astype(float)
    contacts[0] = 1.0
    found = make(friction=1e3).solve(wrench, FEET, contacts).forces
    on, root = np.repeat(contacts > 0.5, 3), np.sqrt(weights.wrench)
    forward = root[:, None] * wrench_map(FEET, contacts)[:, on]
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


def test_the_same_wrenches_give_the_same_bits():
    rng = np.random.default_rng(3)
    wrenches = STANDING + 30.0 * rng.normal(size=(8, 6))
    one, other = make(), make()
    first = [one.solve(each, FEET, ALL).forces for each in wrenches]
    second = [other.solve(each, FEET, ALL).forces for each in wrenches]
    assert np.array(first).tobytes() == np.array(second).tobytes()


def test_options_are_checked():
    with pytest.raises(ValueError, match="above 0"):
        ForceQpWeights(force=0.0, change=0.0)
    with pytest.raises(ValueError, match="force is -1; give 0 to"):
        ForceQpWeights(force=-1.0)
