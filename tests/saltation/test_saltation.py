"""The saltation matrix against closed forms and against finite differences of simulated flows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from saltation.examples.bouncing_ball import FALLING, GRAVITY, MASS, RESTITUTION, bouncing_ball
from saltation.saltations import saltation, saltation_matrix
from saltation.systems import System


@pytest.mark.parametrize(
    "velocity, force, then", [(-8.8, 0.0, 0.0), (-2.0, 5.0, -3.0), (-0.5, -20.0, 7.0)]
)
def test_ball_matches_its_closed_form(velocity, force, then):
    """(5.36), also where the input jumps with the event."""
    system, e = bouncing_ball(), RESTITUTION
    at = 0.0, np.array([0.0, velocity]), np.array([force]), np.array([then])
    found = saltation(system, system.outgoing(FALLING)[0], *at)
    gain = (then - MASS * GRAVITY + e * (force - MASS * GRAVITY)) / (MASS * velocity)
    assert found.ok
    assert_allclose(found.matrix, [[-e, 0.0], [gain, -e]], atol=1e-12)
    assert_array_equal(found.reset_jacobian, [[1.0, 0.0], [0.0, -e]])


def test_grazing_is_a_status():
    found = saltation_matrix(
        np.diag([1.0, -1.0]), np.array([0.0, -9.8]), np.array([0.0, -9.8]), np.array([1.0, 0.0])
    )
    assert found.status == "not_transverse"
    assert_array_equal(found.matrix, found.reset_jacobian)


def test_a_transition_to_nowhere_is_refused():
    system = bouncing_ball()
    with pytest.raises(ValueError, match="add the mode"):
        System({FALLING: system.modes[FALLING]}, system.transitions)
