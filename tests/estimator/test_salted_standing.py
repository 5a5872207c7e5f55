"""A robot that stands, on rigid feet: constant errors are found, pushes are followed."""

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.testing import assert_allclose
from pytest import approx

from estimator.options import SaltedOptions
from estimator.salted.memory import GYRO_BIAS, MISALIGNMENT, STATES
from robots.rotations import log3, rotation_from_quaternion
from tests.estimator.estimators import salted
from tests.estimator.standing_robot import StandingRobot
from tests.estimator.synthetic_walk import errors

GYROSCOPE, ACCELEROMETER = np.array([0.004, -0.003, 0.002]), np.array([0.05, -0.04, 0.03])
TILT = np.array([0.003, -0.002, 0.0])
YAW = np.array([0.0, 0.0, 0.004])


@pytest.fixture(scope="module")
def observer():
    return salted(replace(SaltedOptions(), foot_stiffness=1e9))


def follow(robot, observer, ticks):
    """The estimates and their velocity errors (ticks, 3), world axes."""
    estimates, found = [], []
    for _ in range(ticks):
        estimates.append(observer.update(robot.reading()))
        found.append(errors(estimates[-1], robot.robot)[1])
    return estimates, np.array(found)


def test_all_constant_errors_of_the_imu_but_its_heading_are_found(observer):
    """Feet on flat ground tell the tilt; then accelerometer and attitude say how they err."""
    observer.reset()
    imu = StandingRobot(gyroscope=GYROSCOPE, accelerometer=ACCELEROMETER, misalignment=TILT + YAW)
    observer.update(imu.reading())
    deviations = np.sqrt(observer.covariance.diagonal()[GYRO_BIAS:STATES])
    estimates, velocity = follow(imu, observer, 2000)
    attitude = log3(rotation_from_quaternion(estimates[-1].q[3:7]))
    assert {estimate.status for estimate in estimates} == {"ok"}
    assert np.sqrt((velocity[1000:] ** 2).sum(axis=1).mean()) < 2e-3
    assert abs(estimates[-1].q[2] - imu.robot.position[2]) < 3e-4
    gyroscope, accelerometer, misalignment = observer._memory.bias.reshape(3, 3)
    assert_allclose(gyroscope, GYROSCOPE, atol=1e-3)
    assert_allclose(accelerometer, ACCELEROMETER, atol=0.012)
    assert_allclose(misalignment[:2], TILT[:2], atol=1.2e-3)
    assert_allclose(attitude[:2], 0.0, atol=1.2e-3)
    assert attitude[2] == approx(YAW[2], abs=1e-3)  # nothing tells it from a turn
    left = np.sqrt(observer.covariance.diagonal()[GYRO_BIAS:STATES]) / deviations
    heading = MISALIGNMENT + 2 - GYRO_BIAS
    assert left[heading] > 0.9
    assert np.delete(left, heading).max() < 0.3


def error_after_push(observer, push):
    """Size of the velocity's error (30) from the first reading after the push on [m/s]."""
    observer.reset()
    robot = StandingRobot(yaw=0.5)
    follow(robot, observer, 300)
    robot.robot.velocity = np.array(push)
    velocity = follow(robot, observer, 30)[1]
    assert observer.divergences == 0
    return np.linalg.norm(velocity, axis=1)


@pytest.mark.parametrize("push", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-0.3, -0.4, 0.0]])
def test_a_push_is_followed_in_milliseconds(observer, push):
    assert error_after_push(observer, push)[5:].max() < 0.1


def test_a_foot_that_slips_does_not_move_the_base(observer):
    observer.reset()
    robot = StandingRobot()
    follow(robot, observer, 300)
    robot.robot.stance[0], robot.robot.foot_velocities[0] = False, [0.0, 0.5, 0.0]
    _, velocity = follow(robot, observer, 50)
    assert np.linalg.norm(velocity, axis=1).max() < 0.05
    assert observer._memory.jump[1] == 0.0
