"""Accuracy of the leg-odometry filter on kinematic data with known truth."""

import numpy as np
import pytest

from robots.conventions import GRAVITY
from tests.a1 import A1
from tests.estimator.estimators import leg_odometry
from tests.estimator.synthetic_walk import DT, KinematicRobot, Trot, follow, real_noise


def rmse(error: np.ndarray) -> float:
    return float(np.sqrt((error**2).sum(axis=1).mean()))


def test_the_first_reading_places_a_standing_robot_exactly() -> None:
    robot = KinematicRobot(yaw=0.7)
    estimate = leg_odometry().update(robot.reading())
    np.testing.assert_allclose(estimate.q[:3], [0.0, 0.0, A1.stand_height], atol=1e-9)
    np.testing.assert_allclose(estimate.q[3:7], [0, 0, np.sin(0.35), np.cos(0.35)], atol=1e-12)
    np.testing.assert_allclose(estimate.v, 0.0, atol=1e-12)
    np.testing.assert_array_equal(estimate.contact, 1.0)
    assert estimate.status == "ok"


def test_static_standing_converges_to_the_truth_under_noise() -> None:
    robot = KinematicRobot(real_noise())
    position, velocity = follow(robot, robot.step, 1000, leg_odometry())
    assert np.abs(position[500:, 2]).max() < 2e-3
    assert np.abs(position[500:]).max() < 5e-3
    assert rmse(velocity[500:]) < 0.02


def test_a_constant_error_of_the_initial_velocity_dies_out() -> None:
    robot = KinematicRobot()
    observer = leg_odometry()
    observer.update(robot.reading())
    observer._memory.x[:, 1] += 0.1
    _, velocity = follow(robot, robot.step, 300, observer)
    assert np.abs(velocity[-1]).max() < 1e-3


@pytest.mark.parametrize(("velocity", "yaw_rate"), [((0.5, 0.0, 0.0), 0.0), ((0.2, 0.2, 0.0), 0.5)])
def test_a_trot_with_rolling_feet_is_tracked(velocity: tuple, yaw_rate: float) -> None:
    robot = KinematicRobot(real_noise())
    walk = Trot(robot, np.array(velocity), yaw_rate)
    observer = leg_odometry()
    observer.update(robot.reading())
    position, error = follow(robot, walk.step, 1200, observer)
    assert rmse(error[300:]) < 0.04
    assert abs(error[300:].mean(axis=0)).max() < 0.01
    assert np.linalg.norm(position[-1]) < 0.02 * np.linalg.norm(velocity) * 1200 * DT + 0.005


def push(robot: KinematicRobot, velocity: np.ndarray) -> None:
    """A jump of the base velocity that the accelerometer does not see; the feet hold."""
    robot.velocity = robot.velocity + velocity


@pytest.mark.parametrize("stance", [[1, 1, 1, 1], [1, 0, 0, 1]])
@pytest.mark.parametrize("direction", [[0, 1, 0], [0, -1, 0], [1, 0, 0]])
def test_a_push_of_the_base_is_caught_up_with_in_milliseconds(
    stance: list[int], direction: list[int]
) -> None:
    robot = KinematicRobot(real_noise())
    robot.stance = np.array(stance, dtype=bool)
    observer = leg_odometry()
    follow(robot, robot.step, 500, observer)
    push(robot, 1.5 * np.array(direction, dtype=float))
    _, velocity = follow(robot, robot.step, 30, observer)
    assert np.linalg.norm(velocity[0]) > 0.5  # not by magic: the first sample might be a slip
    assert np.linalg.norm(velocity[5:], axis=1).max() < 0.15
    assert observer.divergences == 0


def test_one_slipping_foot_does_not_move_the_base() -> None:
    robot = KinematicRobot(real_noise())
    observer = leg_odometry()
    follow(robot, robot.step, 500, observer)
    robot.stance[0] = False
    robot.force = np.full(4, 33.0)
    robot.foot_velocities[0] = [0.0, 1.0, 0.0]
    position, velocity = follow(robot, robot.step, 50, observer)
    assert np.linalg.norm(velocity, axis=1).max() < 0.1
    assert np.linalg.norm(position[-1]) < 0.01


def test_flight_follows_the_parabola_and_landing_brings_the_height_back() -> None:
    robot = KinematicRobot(real_noise())
    observer = leg_odometry()
    follow(robot, robot.step, 300, observer)
    robot.stance[:] = False
    robot.velocity = np.zeros(3)
    robot.acceleration = np.array([0.0, 0.0, -GRAVITY])
    robot.foot_velocities[:] = 0.0
    position, velocity = follow(robot, robot.step, 100, observer)
    assert np.abs(velocity).max() < 0.06
    assert np.abs(position).max() < 0.01
    assert observer.update(robot.reading()).contact.max() == 0.0
    robot.acceleration, robot.velocity = np.zeros(3), np.zeros(3)
    robot.stance[:] = True
    position, velocity = follow(robot, robot.step, 300, observer)
    assert abs(position[-1, 2]) < 3e-3
    assert np.linalg.norm(velocity[-1]) < 0.05
