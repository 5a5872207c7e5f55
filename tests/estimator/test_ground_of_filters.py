"""What every filter makes of ground that is raised, and of ground that it does not know."""

import numpy as np
import pytest

from estimator.invariant.filter import InvariantFilter
from estimator.leg_odometry import LegOdometryFilter
from estimator.salted.estimator import SaltedEstimator
from robots.terrain import make_ground, unknown_ground
from tests.estimator.synthetic_walk import walk_readings

FILTERS = [SaltedEstimator, LegOdometryFilter, InvariantFilter]


@pytest.mark.parametrize("kind", FILTERS)
def test_the_height_is_that_above_the_known_ground(kind: type) -> None:
    level, raised = kind(), kind(ground=make_ground()._replace(floor=0.4))
    for reading in walk_readings(0.0):
        low, high = level.update(reading), raised.update(reading)
        assert high.q[2] - low.q[2] == pytest.approx(0.4, abs=1e-6)


@pytest.mark.parametrize("kind", FILTERS)
def test_unknown_ground_gives_no_height(kind: type) -> None:
    """The height stays near the truth, but does not become as certain as on a known floor."""
    level, unknown = kind(), kind(ground=unknown_ground())
    for reading in walk_readings(0.0):
        low, free = level.update(reading), unknown.update(reading)
    assert np.isfinite(free.q).all() and abs(free.q[2] - low.q[2]) < 0.02
    height = {SaltedEstimator: 2, LegOdometryFilter: 2, InvariantFilter: 8}[kind]
    assert unknown.covariance[height, height] > 2.0 * level.covariance[height, height]
