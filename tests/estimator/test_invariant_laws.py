"""Laws of the invariant filter: equivariances, repeatability, covariance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from estimator.options import InvariantOptions
from robots.rotations import exp3
from tests.estimator.estimators import invariant
from tests.estimator.synthetic_walk import KinematicRobot, walk_readings

SHIFT = np.array([3.0, -2.0, 0.0])


@pytest.mark.parametrize("options", [InvariantOptions(), InvariantOptions.published()])
def test_a_turned_and_shifted_world_gives_turned_and_shifted_estimates(
    options: InvariantOptions,
) -> None:
    yaw = 2.1
    plain, moved = invariant(options), invariant(options)
    moved.reset(SHIFT)
    turn = exp3(np.array([0.0, 0.0, yaw]))
    for a, b in zip(walk_readings(0.0), walk_readings(yaw), strict=True):
        one, other = plain.update(a), moved.update(b)
        np.testing.assert_allclose(turn @ one.q[:3] + SHIFT, other.q[:3], atol=1e-8)
        np.testing.assert_allclose(one.v, other.v, atol=1e-7)
    np.testing.assert_allclose(
        plain.velocity_covariance, moved.velocity_covariance, rtol=1e-4, atol=1e-10
    )
    np.testing.assert_allclose(
        plain.foot_positions @ turn.T + SHIFT, moved.foot_positions, atol=1e-8
    )


def test_the_filter_does_not_depend_on_the_origin_of_time() -> None:
    plain, late = invariant(), invariant()
    for reading in walk_readings(0.0):
        one = plain.update(reading)
        other = late.update(replace(reading, tick=reading.tick + 7, time=reading.time + 4096.0))
        np.testing.assert_allclose(one.q, other.q, atol=1e-9)
        np.testing.assert_allclose(one.v, other.v, atol=1e-7)
        assert (other.tick, other.time) == (reading.tick + 7, reading.time + 4096.0)


def test_the_same_readings_give_the_same_bits() -> None:
    readings = walk_readings(0.3, 100)
    one, other = invariant(), invariant()
    estimates = [one.update(reading) for reading in readings]
    assert [other.update(reading) for reading in readings] == estimates
    other.reset()
    assert [other.update(reading) for reading in readings] == estimates


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(1e-2, 1e2), st.floats(0.0, 0.02))
def test_the_covariance_stays_symmetric_positive_definite(
    seed: int, scale: float, dt: float
) -> None:
    """Whatever the readings say: random contacts, joints and accelerations of any size."""
    random = np.random.default_rng(seed)
    observer, base = invariant(), KinematicRobot().reading()
    for tick in range(60):
        quaternion = random.standard_normal(4)
        estimate = observer.update(
            replace(
                base,
                tick=tick,
                time=tick * dt,
                quaternion_imu_in_world=quaternion / np.linalg.norm(quaternion),
                linear_acceleration_imu=scale * random.standard_normal(3),
                angular_velocity_imu=scale * random.standard_normal(3),
                joint_position=base.joint_position + 0.3 * random.standard_normal(12),
                joint_velocity=scale * random.standard_normal(12),
                foot_force=60.0 * random.standard_normal(4),
            )
        )
        assert np.isfinite(estimate.q).all() and np.isfinite(estimate.v).all()
        covariance = observer.covariance
        assert np.array_equal(covariance, covariance.T)
        np.linalg.cholesky(covariance)


def test_the_covariance_stays_positive_definite_through_a_long_stand() -> None:
    robot, observer = KinematicRobot(), invariant()
    reading = robot.reading()
    for tick in range(5_000):
        observer.update(replace(reading, tick=tick, time=5e-3 * tick))
    covariance = observer.covariance
    assert np.array_equal(covariance, covariance.T)
    np.linalg.cholesky(covariance)
    assert covariance[8, 8] < 1e-5 < covariance[6, 6]  # only the height can be seen


def test_a_foot_in_the_air_is_known_no_better_than_the_base() -> None:
    """Its slot holds base plus kinematics: nothing of where it stood before."""
    robot, observer = KinematicRobot(), invariant()
    observer.update(robot.reading())
    robot.stance[0], robot.force = False, np.array([0.0, 33.0, 33.0, 33.0])
    for _ in range(20):
        robot.step()
        observer.update(robot.reading())
    covariance = observer.covariance
    relative = np.zeros((3, 30))
    relative[:, 9:12], relative[:, 6:9] = np.eye(3), -np.eye(3)
    spread = relative @ covariance @ relative.T
    assert 1e-8 < np.linalg.eigvalsh(spread).min() < np.linalg.eigvalsh(spread).max() < 1e-6
    np.testing.assert_allclose(observer.foot_positions[0], robot.feet[0], atol=1e-3)
