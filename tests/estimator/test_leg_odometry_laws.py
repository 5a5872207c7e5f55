"""Laws of the leg-odometry filter: invariances, repeatability, covariance."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from robots.rotations import exp3, rotation_from_quaternion
from tests.estimator.estimators import leg_odometry
from tests.estimator.synthetic_walk import KinematicRobot, walk_readings


def test_the_filter_does_not_depend_on_yaw() -> None:
    """Turning the world turns the position and leaves the base-frame velocity alone."""
    yaw = 2.1
    plain, turned = leg_odometry(), leg_odometry()
    turn = exp3(np.array([0.0, 0.0, yaw]))
    for a, b in zip(walk_readings(0.0), walk_readings(yaw), strict=True):
        one, other = plain.update(a), turned.update(b)
        np.testing.assert_allclose(turn @ one.q[:3], other.q[:3], atol=1e-9)
        np.testing.assert_allclose(one.v, other.v, atol=1e-7)


def test_the_filter_does_not_depend_on_the_origin_of_time() -> None:
    plain, late = leg_odometry(), leg_odometry()
    for reading in walk_readings(0.0):
        one = plain.update(reading)
        other = late.update(replace(reading, tick=reading.tick + 7, time=reading.time + 4096.0))
        np.testing.assert_allclose(one.q, other.q, atol=1e-9)
        np.testing.assert_allclose(one.v, other.v, atol=1e-7)
        assert (other.tick, other.time) == (reading.tick + 7, reading.time + 4096.0)


def test_the_same_readings_give_the_same_bits() -> None:
    readings = walk_readings(0.3, 100)
    one, other = leg_odometry(), leg_odometry()
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
    observer, base = leg_odometry(), KinematicRobot().reading()
    for tick in range(60):
        quaternion = random.standard_normal(4)
        observer.update(
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
        covariance = observer.covariance
        assert np.array_equal(covariance, covariance.T)
        np.linalg.cholesky(covariance)


def test_the_covariance_stays_positive_definite_through_a_long_stand() -> None:
    robot, observer = KinematicRobot(), leg_odometry()
    reading = robot.reading()
    for tick in range(20_000):
        observer.update(replace(reading, tick=tick, time=5e-3 * tick))
    covariance = observer.covariance
    assert np.array_equal(covariance, covariance.T)
    np.linalg.cholesky(covariance)
    height, sideways = covariance[2, 2], covariance[0, 0]
    assert height < 1e-5 < sideways  # only the height can be seen


def test_the_covariance_of_the_velocity_is_that_of_the_world_seen_from_the_base() -> None:
    observer = leg_odometry()
    for reading in walk_readings(0.7, 100):
        estimate = observer.update(reading)
    observer._memory.covariance[0] *= 5.0  # the three axes are alike, and would hide a turn
    rotation = rotation_from_quaternion(estimate.q[3:7])
    expected = rotation.T @ observer.covariance[3:6, 3:6] @ rotation
    np.testing.assert_allclose(observer.velocity_covariance, expected, rtol=1e-12, atol=1e-18)
