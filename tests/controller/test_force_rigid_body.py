"""The single rigid body: its numbers, its discretisation, and the limits of its feet."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from controller.centroidal.qp import (
    check_limits,
    clip_forces,
    friction_bounds,
    friction_rows,
)
from controller.centroidal.rigid_body import (
    angular_input_map,
    discrete_step,
    invert_symmetric,
    roll_out,
    standing_body,
)
from robots.conventions import GRAVITY
from tests.a1 import A1

BODY = standing_body(A1)


def spd(rng):
    root = rng.normal(size=(3, 3))
    return root @ root.T + 0.1 * np.eye(3)


def accelerations(forces, arms, inverse, mass):
    angular = inverse @ np.cross(arms, forces).sum(axis=0)
    return angular, forces.sum(axis=0) / mass - [0.0, 0.0, GRAVITY]


def test_the_standing_body_is_the_a1():
    assert BODY.mass == pytest.approx(A1.mass, abs=1e-9)
    moments = np.linalg.eigvalsh(BODY.inertia_in_base)
    assert moments[0] > 0.0 and moments[0] + moments[1] > moments[2]
    # Legs hang below the trunk, left and right alike but for the trunk's own asymmetry.
    assert -0.05 < BODY.com_in_base[2] < 0.0
    assert np.abs(BODY.com_in_base[:2]).max() < 0.02


def test_inverse_of_a_symmetric_matrix():
    matrix = spd(np.random.default_rng(0))
    np.testing.assert_allclose(invert_symmetric(matrix) @ matrix, np.eye(3), atol=1e-12)
    assert not np.isfinite(invert_symmetric(np.zeros((3, 3)))).any()


def test_input_map_is_the_derivative_of_the_angular_acceleration():
    rng = np.random.default_rng(1)
    arms, inverse, found = rng.normal(size=(4, 3)), spd(rng), np.empty((3, 12))
    angular_input_map(arms, inverse, found)
    for i, unit in enumerate(np.eye(12)):
        expected, _ = accelerations(unit.reshape(4, 3), arms, inverse, 1.0)
        np.testing.assert_allclose(found[:, i], expected, atol=1e-12)


def test_a_step_is_the_flow():
    rng = np.random.default_rng(2)
    x, forces, arms = rng.normal(size=12), 50.0 * rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    inverse, dt, moved = spd(rng), 0.07, np.empty(12)
    discrete_step(x, forces, arms, BODY.mass, inverse, dt, moved)
    angular, linear = accelerations(forces, arms, inverse, BODY.mass)
    flow = solve_ivp(
        lambda _, y: np.concatenate((y[6:], angular, linear)), (0.0, dt), x, rtol=1e-11, atol=1e-11
    )
    np.testing.assert_allclose(moved, flow.y[:, -1], rtol=1e-9, atol=1e-9)


def test_two_half_steps_are_a_step():
    rng = np.random.default_rng(3)
    x, forces, arms = rng.normal(size=12), rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    whole, halves = np.empty((1, 12)), np.empty((2, 12))
    inverse = spd(rng)
    roll_out(x, forces[None], arms[None], 2.0, inverse, np.array([0.1]), whole)
    twice = [np.stack((each, each)) for each in (forces, arms)]
    roll_out(x, *twice, 2.0, inverse, np.array([0.05, 0.05]), halves)
    np.testing.assert_allclose(halves[1], whole[0], atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(-1e4, 1e4), min_size=12, max_size=12),
    st.lists(st.sampled_from([0.0, 1.0]), min_size=4, max_size=4),
    st.floats(0.05, 2.0),
)
def test_clipped_forces_satisfy_the_rows(forces, contacts, friction):
    forces, contacts = np.reshape(forces, (4, 3)), np.array(contacts)
    lower, upper = np.empty(20), np.empty(20)
    friction_bounds(contacts, 5.0, 120.0, lower, upper)
    clip_forces(forces, contacts, friction, 5.0, 120.0)
    rows = friction_rows(4, friction) @ forces.ravel()
    assert (rows >= lower - 1e-9).all() and (rows <= upper + 1e-9).all()
    assert (forces[contacts < 0.5] == 0.0).all()
    again = forces.copy()
    clip_forces(again, contacts, friction, 5.0, 120.0)
    np.testing.assert_array_equal(again, forces)


@pytest.mark.parametrize("limits", [(0.0, 9.0, 0.0), (0.5, 9.0, -1.0), (0.5, 1.0, 2.0)])
def test_limits_that_no_force_keeps(limits):
    with pytest.raises(ValueError, match="give"):
        check_limits(*limits)
