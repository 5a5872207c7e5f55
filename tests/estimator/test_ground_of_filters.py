"""What every filter makes of ground that is raised, and of ground that it does not know."""

import numpy as np
import pytest
from pytest import approx

from estimator.options import UNEVEN_GROUND, SaltedOptions, on_uneven_ground
from estimator.salted.contacts import is_level
from robots.terrain import Box, make_ground, unknown_ground
from tests.estimator.estimators import invariant, leg_odometry, salted
from tests.estimator.synthetic_walk import walk_readings

FILTERS = [salted, leg_odometry, invariant]


@pytest.mark.parametrize("kind", FILTERS)
def test_the_height_is_that_above_the_known_ground(kind):
    level, raised = kind(), kind(ground=make_ground()._replace(floor=0.4))
    for reading in walk_readings(0.0):
        low, high = level.update(reading), raised.update(reading)
        assert high.q[2] - low.q[2] == approx(0.4, abs=1e-6)


@pytest.mark.parametrize("kind", FILTERS)
def test_unknown_ground_gives_no_height(kind):
    """The height stays near the truth, but does not become as certain as on a known floor."""
    level, unknown = kind(), kind(ground=unknown_ground())
    for reading in walk_readings(0.0):
        low, free = level.update(reading), unknown.update(reading)
    assert np.isfinite(free.q).all() and abs(free.q[2] - low.q[2]) < 0.02
    height = {salted: 2, leg_odometry: 2, invariant: 8}[kind]
    assert unknown.covariance[height, height] > 2.0 * level.covariance[height, height]


def test_feet_count_less_where_the_ground_is_no_level_floor():
    assert is_level(make_ground()) and is_level(make_ground()._replace(floor=0.4))
    assert not is_level(unknown_ground())
    assert not is_level(make_ground((Box((2.0, 0.0, 0.0), (1.0, 1.0, 0.1), pitch=0.2),)))
    plain = SaltedOptions()
    uneven = on_uneven_ground(plain)
    for name in ("foot_velocity_noise", "foot_vertical_noise", "height_noise"):
        assert getattr(uneven, name) == UNEVEN_GROUND * getattr(plain, name)
    assert uneven.terrain_noise == plain.terrain_noise
