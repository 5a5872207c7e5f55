"""Instant QP's problem: wrenches that feet can give are given, others as far as limits allow."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from controller.centroidal.instant_qp import ForceQp
from controller.centroidal.qp import along_axes, level_frames
from controller.planner_options import ForceQpWeights
from robots.rotations import exp3
from tests.controller.foot_forces import FEET, LIMITS, WEIGHT, assert_forgets, best_forces, within

ALL = np.ones(4)
LEVEL = level_frames((4,))
STANDING = np.array([0.0, 0.0, WEIGHT, 0.0, 0.0, 0.0])


def make(weights=None):
    return ForceQp(LIMITS, weights or ForceQpWeights())


@pytest.mark.parametrize("seed", range(8))
def test_against_a_second_solver(seed):
    rng, weights = np.random.default_rng(seed), ForceQpWeights()
    wrench = STANDING + rng.normal(size=6) * [20.0, 20.0, 150.0, 20.0, 20.0, 5.0]
    contacts = np.append(1.0, (rng.random(3) < 0.7).astype(float))
    found = make().solve(wrench, FEET, contacts).forces

    def cost(forces):
        given = np.concatenate((forces.sum(axis=0), np.cross(FEET, forces).sum(axis=0)))
        light = (weights.force + weights.change) * (forces**2).sum()
        return (weights.wrench @ (given - wrench) ** 2 + light) / WEIGHT**2

    assert_allclose(found, best_forces(cost, contacts, LEVEL), atol=0.5)


SHARED = make()


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
        assert_allclose(found.forces, flat.forces @ turn.T, atol=0.02)


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
    assert_forgets(make().solve, (STANDING, FEET, ALL), ALL, bad, place)
