"""The salted filter on a recorded trot of the simulated A1: accuracy, consistency, invariances."""

import numpy as np
import pytest

from tests.estimator.estimators import leg_odometry, salted
from tests.estimator.recorded_stream import recorded_trot

SETTLED = 300


@pytest.fixture(scope="module")
def stream():
    return recorded_trot(1.0)


@pytest.fixture(scope="module")
def observer():
    return salted()


@pytest.fixture(scope="module")
def plain(stream, observer):
    return run(observer, stream)


def run(observer, stream, ticks=None):
    observer.reset(stream.truth[0, :2])
    return [observer.update(stream.reading(k)) for k in range(ticks or len(stream.time))]


def velocity_rmse(estimates, stream):
    """Of the base's linear velocity in its own axes, once settled [m/s]."""
    found = np.array([estimate.v[:3] for estimate in estimates])
    error = (found - stream.truth[: len(found), 19:22])[SETTLED:]
    return float(np.sqrt((error**2).sum(axis=1).mean()))


def test_its_velocity_is_far_better_than_leg_odometry(stream, plain):
    assert velocity_rmse(plain, stream) < 5e-3
    by_legs = velocity_rmse(run(leg_odometry(), stream), stream)
    assert velocity_rmse(plain, stream) < 0.6 * by_legs


def test_position_and_joints_are_followed(stream, plain):
    q = np.array([estimate.q for estimate in plain])[SETTLED:]
    v = np.array([estimate.v for estimate in plain])[SETTLED:]
    truth = stream.truth[SETTLED:]
    assert np.abs(q[:, 2] - truth[:, 2]).max() < 3e-3
    assert np.linalg.norm(q[-1, :2] - truth[-1, :2]) < 0.01
    sensed = stream.rows[SETTLED:, 22:34]
    ours, encoders = v[:, 6:] - truth[:, 25:], sensed - truth[:, 25:]
    assert np.sqrt((ours**2).mean()) < 0.9 * np.sqrt((encoders**2).mean())


def test_the_velocity_covariance_covers_the_error(stream, observer):
    observer.reset(stream.truth[0, :2])
    squared = []
    for k in range(len(stream.time)):
        error = observer.update(stream.reading(k)).v[:3] - stream.truth[k, 19:22]
        squared.append(error @ np.linalg.solve(observer.velocity_covariance, error))
    assert 0.2 < np.mean(squared[SETTLED:]) < 5.0
    assert np.quantile(squared[SETTLED:], 0.95) < 12.0


def test_without_force_sensors_the_guards_find_the_steps(stream, observer):
    """All of them NaN from the start on: a trot of two seconds by the guards alone."""
    rows = stream.rows.copy()
    rows[:, 46:] = np.nan
    blind = stream._replace(rows=rows)
    estimates = run(observer, blind)
    assert {estimate.status for estimate in estimates} == {"degraded"}
    assert velocity_rmse(estimates, stream) < 5e-3


def test_a_lost_reading_does_not_count_a_touchdown_twice(stream, plain, observer):
    """The accelerometer speaks of the last tick only, also where two have passed."""
    observer.reset(stream.truth[0, :2])
    kept = [k for k in range(len(stream.time)) if k < SETTLED or k % 4]
    estimates = np.array([observer.update(stream.reading(k)).v[:3] for k in kept])
    error = np.linalg.norm(estimates - stream.truth[kept, 19:22], axis=1)[SETTLED:]
    whole = np.array([e.v[:3] for e in plain])[SETTLED:] - stream.truth[SETTLED:, 19:22]
    assert error.max() < 0.025  # m/s; touchdowns that count twice are off by tenths
    assert error.max() < 5.0 * np.linalg.norm(whole, axis=1).max()
