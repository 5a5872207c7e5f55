"""Derivatives of rigid feet: contact sets from forces, saltation where feet land."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from controller.references import make_reference
from controller.rigid_derivatives import RigidDerivatives
from robots.rotations import exp3, quaternion_from_rotation, quaternion_product
from robots.state import difference, integrate
from robots.terrain import Box, make_ground
from saltation.hilqr import Trajectory
from tests.a1 import A1
from tests.differences import assert_joints_drift, slopes

PERIOD = 0.01


@pytest.fixture(scope="module")
def derivatives():
    return RigidDerivatives(A1, PERIOD)


def walking(knots=30):
    window = make_reference(A1, "walk", 0.2, PERIOD).window(300, knots)
    states = np.hstack([window.q, window.v])
    # The kinematic reference lands at zero speed; a real foot comes down with some.
    states[:, 21] -= 0.3
    return Trajectory(states, window.inputs, 0.0, 30.0 * window.contacts[:-1])


@pytest.mark.parametrize("k", range(4))
def test_every_knot_is_the_derivative_of_its_step(derivatives, k):
    trajectory = walking(4)
    linear = derivatives.linearise(trajectory)
    x, u, contacts = trajectory.states[k], trajectory.inputs[k], trajectory.aux[k] > 1.0

    def step(d):
        q, v = integrate(x[:19], x[19:], d[:36])
        return derivatives.dynamics.step(q, v, u + d[36:], contacts, PERIOD)

    after = step(np.zeros(48))
    found = slopes(lambda d: difference(*after, *step(d)), np.zeros(48))
    assert_allclose(np.hstack((linear.A[k], linear.B[k])), found, atol=2e-5)


def test_the_joints_drift(derivatives):
    assert_joints_drift(derivatives.linearise(walking()), PERIOD)


def test_a_saltation_matrix_stands_before_every_landing_and_nowhere_else(derivatives):
    trajectory = walking(60)
    contacts = trajectory.aux > 1.0
    landings = np.flatnonzero((contacts[1:] & ~contacts[:-1]).any(axis=1))
    transitions = derivatives.linearise(trajectory).transitions
    assert [t.knot for t in transitions] == list(landings) and len(landings) >= 3
    for transition in transitions:
        # After a sticking plastic impact three velocity directions are gone for each foot down.
        feet = (contacts[transition.knot] | contacts[transition.knot + 1]).sum()
        rank = np.linalg.matrix_rank(transition.reset_jacobian[18:, 18:], tol=1e-8)
        assert rank == 18 - 3 * feet
        assert np.abs(transition.saltation - transition.reset_jacobian).max() > 1e-3


@pytest.mark.parametrize("order", ["index", "average", "selected"])
def test_a_slope_is_the_level_ground_turned_with_gravity(order):
    """The states' tangents are in the base: there nothing changes."""
    flat = walking(60)
    forces = flat.aux.copy()
    forces[:3, [0, 3]] = 0.0  # two feet that land together
    flat = flat._replace(aux=forces)
    angle = 0.3
    turn = exp3(np.array([0.0, -angle, 0.0]))  # uphill along x
    # The top of a box through the origin: the plane of the slope.
    centre = tuple((-turn[:, 2]).tolist())
    ground = make_ground((Box(centre, (9.0, 9.0, 1.0), 0.0, -angle),))
    states = flat.states.copy()
    states[:, :3] = states[:, :3] @ turn.T
    for row in states:
        row[3:7] = quaternion_product(quaternion_from_rotation(turn), row[3:7])
    level = RigidDerivatives(A1, PERIOD, order).linearise(flat)
    derivatives = RigidDerivatives(A1, PERIOD, order, ground)
    gravity = derivatives.dynamics.model.gravity
    gravity.linear = turn @ gravity.linear
    slope = derivatives.linearise(flat._replace(states=states))
    assert_allclose(slope.A, level.A, atol=1e-8)
    assert len(slope.transitions) == len(level.transitions) >= 3
    for here, there in zip(level.transitions, slope.transitions, strict=True):
        scale = np.abs(here.saltation).max()
        assert here.knot == there.knot
        assert_allclose(there.saltation, here.saltation, atol=1e-7 * scale)
        assert_allclose(there.reset_jacobian, here.reset_jacobian, atol=1e-8)
