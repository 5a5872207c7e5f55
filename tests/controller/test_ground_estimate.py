"""The ground that a robot believes in by its footprints."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from pytest import approx

from controller.ground_estimate import GroundEstimate
from robots.legs import foot_positions_in_base, inverse_kinematics
from robots.rotations import exp3, quaternion_from_rotation
from robots.terrain import height_at, nearest_surface
from tests.a1 import A1, estimate, feet_in_world


def standing(base, turn, contact):
    q = np.concatenate([base, quaternion_from_rotation(exp3(turn)), A1.stand])
    return estimate(q=q, contact=contact)


@pytest.mark.parametrize("level", [False, True])
@pytest.mark.parametrize("turn", [(0.0, 0.0, 0.0), (0.1, -0.2, 0.0), (0.05, 0.1, 2.5)])
@pytest.mark.parametrize("height", [0.7, -2000.0])  # which drifts, and in hours far
def test_the_feet_stand_on_the_ground(level, turn, height):
    here = standing(np.array([2.0, -1.0, height]), np.array(turn), np.ones(4))
    estimates = GroundEstimate(A1, level)
    estimates.follow(here)
    for foot in feet_in_world(here.q):
        lowest = foot - [0.0, 0.0, A1.legs.foot_radius]
        assert nearest_surface(estimates.ground, *lowest)[0] == approx(0.0, abs=2e-3)
        assert height_at(estimates.ground, foot[0], foot[1]) == approx(lowest[2], abs=2e-3)


def walk_to_a_step(estimates, edge, rise):
    """Walk along x until the fore feet alone stand beyond a step at `edge`."""
    neutral = foot_positions_in_base(A1.legs, A1.stand)
    for x in np.arange(-0.5, 0.001, 0.1):
        feet = neutral + [x, 0.0, 0.3]
        feet[:, 2] = A1.legs.foot_radius + rise * (feet[:, 0] > edge)
        base = np.array([x, 0.0, 0.3])
        q = np.concatenate([base, [0.0, 0.0, 0.0, 1.0], inverse_kinematics(A1.legs, feet - base)])
        estimates.follow(estimate(q=q))


@pytest.mark.parametrize("rise", [0.06, -0.06])
@pytest.mark.parametrize("edge", [-0.08, 0.02, 0.1])
def test_the_border_lies_where_the_fore_feet_stepped(edge, rise):
    """Within a stride of the true edge, on either side of which the ground is level."""
    estimates = GroundEstimate(A1, level=True)
    walk_to_a_step(estimates, edge, rise)
    for y in (-0.12, 0.12):
        heights = np.array([height_at(estimates.ground, x, y) for x in np.arange(-0.3, 0.3, 0.01)])
        before, after = heights[0], heights[-1]
        assert after - before == approx(rise, abs=2e-3)
        border = -0.3 + 0.01 * np.abs(heights - before).searchsorted(0.5 * abs(rise))
        assert border == approx(edge, abs=0.055)


@pytest.mark.parametrize("place, contact", [(0.5, 0.0), (np.nan, 1.0)])
def test_a_foot_in_the_air_and_a_state_that_is_none_leave_no_footprint(place, contact):
    estimates = GroundEstimate(A1, level=False)
    estimates.follow(standing(np.array([0.0, 0.0, 0.3]), np.zeros(3), np.ones(4)))
    before = estimates.ground.centre.copy()
    estimates.follow(standing(np.array([0.0, 0.0, place]), np.zeros(3), np.full(4, contact)))
    assert_array_equal(estimates.ground.centre, before)
