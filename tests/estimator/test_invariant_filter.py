"""Accuracy of the invariant filter on kinematic data with known truth."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from msgspec.structs import replace as with_fields

from estimator.invariant.filter import InvariantFilter
from estimator.options import InvariantOptions
from robots.conventions import GRAVITY
from robots.rotations import exp3, log3
from runtime.messages import SensorReading, StateEstimate
from tests.a1 import A1
from tests.estimator.estimators import invariant
from tests.estimator.synthetic_walk import DT, KinematicRobot, Noise, Trot, follow, real_noise

GYROSCOPE, ACCELEROMETER = np.array([0.004, -0.003, 0.002]), np.array([0.05, -0.04, 0.03])


def rmse(error: np.ndarray) -> float:
    return float(np.sqrt((error**2).sum(axis=1).mean()))


class Biased:
    """An estimator whose inertial unit errs by constants."""

    def __init__(self, estimator: InvariantFilter) -> None:
        self.estimator, self.divergences = estimator, 0

    def reset(self, position: np.ndarray | None = None) -> None:
        self.estimator.reset(position)

    def update(self, reading: SensorReading) -> StateEstimate:
        return self.estimator.update(
            with_fields(
                reading,
                angular_velocity_imu=reading.angular_velocity_imu + GYROSCOPE,
                linear_acceleration_imu=reading.linear_acceleration_imu + ACCELEROMETER,
            )
        )


def test_the_first_reading_places_a_standing_robot_exactly() -> None:
    robot = KinematicRobot(yaw=0.7)
    estimate = invariant().update(robot.reading())
    np.testing.assert_allclose(estimate.q[:3], [0.0, 0.0, A1.stand_height], atol=1e-9)
    np.testing.assert_allclose(estimate.q[3:7], [0, 0, np.sin(0.35), np.cos(0.35)], atol=1e-12)
    np.testing.assert_allclose(estimate.v, 0.0, atol=1e-12)
    np.testing.assert_array_equal(estimate.contact, 1.0)
    assert estimate.status == "ok"


def expected_noise() -> Noise:
    """The noise that the options state."""
    options = InvariantOptions()
    return Noise(0.05, 0.005, options.encoder_noise, options.joint_velocity_noise, 2.0)


def test_standing_converges_to_the_truth_and_the_biases_are_observed() -> None:
    """With an orientation known to be unbiased; tilt and horizontal bias mix without it."""
    robot = KinematicRobot(expected_noise())
    observer = invariant(replace(InvariantOptions(), orientation_bias=1e-6, orientation_walk=1e-9))
    position, velocity = follow(robot, robot.step, 2500, Biased(observer))
    assert np.abs(position[1000:, 2]).max() < 1e-3
    assert rmse(velocity[1000:]) < 3e-3
    gyroscope, accelerometer, _ = observer.biases
    np.testing.assert_allclose(gyroscope, GYROSCOPE, atol=5e-4)
    np.testing.assert_allclose(accelerometer, ACCELEROMETER, atol=0.01)
    angular = observer.update(robot.reading()).v[3:6] + GYROSCOPE
    np.testing.assert_allclose(angular, 0.0, atol=5 * 0.005)


def test_a_constant_error_of_the_initial_velocity_dies_out() -> None:
    robot, observer = KinematicRobot(), invariant()
    observer.update(robot.reading())
    observer._memory.vectors[0] += 0.1
    _, velocity = follow(robot, robot.step, 300, observer)
    assert np.abs(velocity[-1]).max() < 1e-3


def test_an_orientation_error_turns_back() -> None:
    robot, observer = KinematicRobot(yaw=1.0), invariant()
    observer.update(robot.reading())
    observer._memory.covariance[:3, :3] += np.eye(3)
    observer._memory.rotation[:] = exp3(np.array([0.1, 0.0, 0.0])) @ robot.rotation
    follow(robot, robot.step, 50, observer)
    assert np.linalg.norm(log3(observer._memory.rotation @ robot.rotation.T)) < 1e-2


@pytest.mark.parametrize(("velocity", "yaw_rate"), [((0.5, 0.0, 0.0), 0.0), ((0.2, 0.2, 0.0), 0.5)])
def test_a_trot_with_rolling_feet_is_tracked(velocity: tuple, yaw_rate: float) -> None:
    robot = KinematicRobot(real_noise())
    walk, observer = Trot(robot, np.array(velocity), yaw_rate), invariant()
    observer.update(robot.reading())
    position, error = follow(robot, walk.step, 1200, observer)
    assert rmse(error[300:]) < 0.02
    assert abs(error[300:].mean(axis=0)).max() < 0.01
    assert np.linalg.norm(position[-1]) < 0.02 * np.linalg.norm(velocity) * 1200 * DT + 0.005


def test_without_rolling_the_velocity_is_biased() -> None:
    """Contacts that stand on points lose omega_calf r, a few cm/s at half a metre a second."""
    means = []
    for use_rolling in (True, False):
        robot = KinematicRobot(real_noise())
        walk = Trot(robot, np.array([0.5, 0.0, 0.0]))
        observer = invariant(replace(InvariantOptions(), use_rolling=use_rolling))
        observer.update(robot.reading())
        _, error = follow(robot, walk.step, 500, observer)
        means.append(abs(error[300:, 0].mean()))
    assert means[0] < 0.006
    assert means[1] > 0.02


def test_the_published_filter_tracks_a_trot_by_positions_alone() -> None:
    robot = KinematicRobot(real_noise())
    walk = Trot(robot, np.array([0.3, 0.0, 0.0]))
    observer = invariant(replace(InvariantOptions.published(), use_rolling=True))
    observer.update(robot.reading())
    _, error = follow(robot, walk.step, 1200, observer)
    assert rmse(error[300:]) < 0.03


def consistent(start: Callable[[KinematicRobot], Callable[[], None]]) -> np.ndarray:
    """Normalised squared errors of the base velocity, with the noise that the options state."""
    robot, observer, found = KinematicRobot(expected_noise()), invariant(), []
    step = start(robot)
    observer.update(robot.reading())
    for _ in range(900):
        step()
        estimate = observer.update(robot.reading())
        error = estimate.v[:3] - robot.rotation.T @ robot.velocity
        found.append(error @ np.linalg.solve(observer.velocity_covariance, error))
    return np.array(found[200:])


def test_the_velocity_covariance_covers_the_error() -> None:
    """On feet that hold perfectly it may be too large (the options allow for slip), never small."""
    walk = np.array([0.3, 0.1, 0.0])
    for squared in (consistent(lambda r: r.step), consistent(lambda r: Trot(r, walk).step)):
        assert 0.05 < squared.mean() < 5.0
        assert np.quantile(squared, 0.95) < 12.0


@pytest.mark.parametrize("stance", [[1, 1, 1, 1], [1, 0, 0, 1]])
@pytest.mark.parametrize("direction", [[0, 1, 0], [0, -1, 0], [1, 0, 0]])
def test_a_push_of_the_base_is_caught_up_with_in_milliseconds(
    stance: list[int], direction: list[int]
) -> None:
    robot, observer = KinematicRobot(real_noise()), invariant()
    robot.stance = np.array(stance, dtype=bool)
    follow(robot, robot.step, 500, observer)
    robot.velocity = robot.velocity + 1.5 * np.array(direction, dtype=float)
    _, velocity = follow(robot, robot.step, 30, observer)
    assert np.linalg.norm(velocity[0]) > 0.5  # not by magic: the first sample might be a slip
    assert np.linalg.norm(velocity[8:], axis=1).max() < 0.15
    assert observer.divergences == 0


def test_one_slipping_foot_does_not_move_the_base() -> None:
    robot, observer = KinematicRobot(real_noise()), invariant()
    follow(robot, robot.step, 500, observer)
    robot.stance[0], robot.force = False, np.full(4, 33.0)
    robot.foot_velocities[0] = [0.0, 1.0, 0.0]
    position, velocity = follow(robot, robot.step, 50, observer)
    assert np.linalg.norm(velocity, axis=1).max() < 0.1
    assert np.linalg.norm(position[-1]) < 0.01


def test_flight_follows_the_parabola_and_landing_brings_the_height_back() -> None:
    robot, observer = KinematicRobot(real_noise()), invariant()
    follow(robot, robot.step, 300, observer)
    robot.stance[:] = False
    robot.velocity, robot.foot_velocities[:] = np.zeros(3), 0.0
    robot.acceleration = np.array([0.0, 0.0, -GRAVITY])
    position, velocity = follow(robot, robot.step, 100, observer)
    assert np.abs(velocity).max() < 0.06
    assert np.abs(position).max() < 0.01
    assert observer.update(robot.reading()).contact.max() == 0.0
    robot.acceleration, robot.velocity = np.zeros(3), np.zeros(3)
    robot.stance[:] = True
    position, velocity = follow(robot, robot.step, 400, observer)
    assert abs(position[-1, 2]) < 3e-3
    assert np.linalg.norm(velocity[-1]) < 0.05


def test_options_refuse_what_is_not_positive() -> None:
    with pytest.raises(ValueError, match="contact_noise"):
        InvariantOptions(contact_noise=0.0)
    with pytest.raises(ValueError, match="gyroscope_walk"):
        InvariantOptions(gyroscope_walk=float("nan"))


def test_gravity_is_no_acceleration_that_makes_the_accelerometer_noisy() -> None:
    """At rest the noise in proportion to the acceleration adds nothing."""
    observers = [
        invariant(replace(InvariantOptions(), acceleration_relative_noise=part))
        for part in (1e-9, 1.0)
    ]
    for observer in observers:
        robot = KinematicRobot()
        follow(robot, robot.step, 50, observer)
    without, proportional = (observer.covariance for observer in observers)
    np.testing.assert_allclose(proportional, without, rtol=0, atol=1e-12)
