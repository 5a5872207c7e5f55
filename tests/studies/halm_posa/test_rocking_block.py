"""The rocking block's geometry and inertia, by differences of its corners' positions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import approx

from studies.halm_posa.systems.rocking_block import (
    VELOCITY,
    corners,
    normal_jacobian,
    problem,
    tangential_jacobian,
)
from tests.differences import slopes


@pytest.mark.parametrize("theta", [0.0, 0.3, -1.1])
def test_jacobians_are_derivatives_of_the_corners(theta):
    moved = slopes(lambda q: corners(q), np.array([0.2, 1.3, theta]))
    assert_allclose(tangential_jacobian(theta), moved[:, 0], atol=1e-9)
    assert_allclose(normal_jacobian(theta), moved[:, 1], atol=1e-9)


def test_the_impact_of_table_4():
    impact, v = problem(), VELOCITY
    assert impact.contacts == ("A", "B") and impact.count == 2 and impact.is_colliding(v)
    assert_allclose(impact.J_n @ v, [-0.4429, -0.4429])
    assert_allclose(impact.J_D @ v, 0.0)
    assert impact.M[2, 2] == approx(5.0 / 12.0)
