"""The single rigid body: its numbers, its discretisation, and the limits of its feet."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import solve_ivp

from controller.centroidal.qp import (
    clip_forces,
    friction_bounds,
    friction_rows,
)
from controller.centroidal.rigid_body import (
    discrete_step,
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


def test_a_step_is_the_flow():
    rng = np.random.default_rng(2)
    x, forces, arms = rng.normal(size=12), 50.0 * rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    inverse, dt, moved = spd(rng), 0.07, np.empty(12)
    discrete_step(x, forces, arms, BODY.mass, inverse, dt, moved)
    angular, linear = accelerations(forces, arms, inverse, BODY.mass)
    flow = solve_ivp(
        lambda _, y: np.concatenate((y[6:], angular, linear)), (0.0, dt), x, rtol=1e-11, atol=1e-11
    )
    assert_allclose(moved, flow.y[:, -1], rtol=1e-9, atol=1e-9)


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
    assert_array_equal(again, forces)
