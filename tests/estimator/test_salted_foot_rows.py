"""Velocity of the contact points and height of the feet: values, and Jacobians by differences."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from estimator.salted.measurements import foot_rows
from estimator.salted.memory import ANGULAR, JOINTS, POSITION, RATES, ROTATION, VELOCITY
from robots.state import integrate
from tests.differences import slopes
from tests.estimator.salted_case import LEGS, random_memory

RADII = np.array([0.02, 0.017, 0.02, 0.015])
TILTED = np.array([[0.3, 0.0, 1.0], [-0.1, 0.2, 1.0], [0.0, -0.4, 1.0], [0.0, 0.0, 1.0]])
TILTED /= np.linalg.norm(TILTED, axis=1, keepdims=True)


def velocity_columns(foot):
    starts = (VELOCITY, ANGULAR, RATES + 3 * foot, JOINTS + 3 * foot, ROTATION)
    return [start + j for start in starts for j in range(3)]


def height_columns(foot):
    return [start + j for start in (POSITION, ROTATION, JOINTS + 3 * foot) for j in range(3)]


@settings(max_examples=15)
@given(st.integers(0, 10_000))
def test_jacobians_are_finite_differences(seed):
    """In every column of the state: what a row does not name does not matter to it."""
    m = random_memory(seed)
    rows = foot_rows(LEGS, m.q, m.v, RADII, TILTED)

    def moved(d):
        return foot_rows(LEGS, *integrate(m.q, m.v, d), RADII, TILTED)

    velocity = slopes(lambda d: moved(d).velocity, np.zeros(36))
    height = slopes(lambda d: moved(d).height, np.zeros(36))
    for foot in range(4):
        found = np.zeros((3, 36))
        found[:, velocity_columns(foot)] = rows.velocity_jacobian[foot]
        assert_allclose(found, velocity[foot], atol=2e-7)
        found = np.zeros(36)
        found[height_columns(foot)] = rows.height_jacobian[foot]
        assert_allclose(found, height[foot], atol=1e-8)
