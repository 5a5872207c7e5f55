"""Leg odometry: accuracy on kinematic data, laws, faults, and the filter of one axis."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from estimator.leg_odometry import FEET, NO_STATE, POSITION, VELOCITY, correct, predict
from robots.conventions import GRAVITY
from robots.rotations import exp3, rotation_from_quaternion
from tests.a1 import A1
from tests.estimator.estimators import leg_odometry
from tests.estimator.synthetic_walk import (
    DT,
    KinematicRobot,
    Trot,
    errors,
    follow,
    real_noise,
    walk_readings,
)


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


BAD = ["quaternion_imu_in_world", "linear_acceleration_imu", "joint_velocity", "foot_force"]


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
def test_an_unusable_reading_is_left_out_and_counted(name: str, value: float) -> None:
    robot, observer = KinematicRobot(), leg_odometry()
    for _ in range(20):
        last = observer.update(robot.reading())
        robot.step()
    array = getattr(robot.reading(), name).copy()
    array[-1] = value
    estimate = observer.update(replace(robot.reading(), **{name: array}))
    assert (estimate.status, observer.divergences) == ("diverged", 1)
    np.testing.assert_array_equal(estimate.q, last.q)
    robot.step()
    position, velocity = errors(observer.update(robot.reading()), robot)
    assert max(np.abs(position).max(), np.abs(velocity).max()) < 1e-6


def test_an_unusable_first_reading_says_starting_with_finite_numbers() -> None:
    reading = KinematicRobot().reading()
    observer = leg_odometry()
    estimate = observer.update(replace(reading, joint_position=np.full(12, np.nan)))
    assert estimate.status == "starting"
    assert np.isfinite(estimate.q).all() and np.isfinite(estimate.v).all()
    assert observer.update(reading).status == "degraded"  # for 20 ms


def test_a_diverged_filter_restarts_from_kinematics_where_it_was() -> None:
    robot = KinematicRobot()
    walk, observer = Trot(robot, np.array([0.5, 0.0, 0.0])), leg_odometry()
    observer.update(robot.reading())
    follow(robot, walk.step, 600, observer)
    observer._memory.covariance[1, 2, 2] = np.nan
    walk.step()
    estimate = observer.update(robot.reading())
    assert (estimate.status, observer.divergences) == ("diverged", 1)
    position, velocity = errors(estimate, robot)
    assert np.abs(position).max() < 0.02
    walk.step()
    assert observer.update(robot.reading()).status == "degraded"  # its torques are zero


@pytest.mark.parametrize("jump", [5.0, -0.01])
def test_a_gap_or_a_step_back_in_time_restarts(jump: float) -> None:
    robot, observer = KinematicRobot(), leg_odometry()
    observer.reset(np.array([1.0, 2.0]))
    first = robot.reading()
    observer.update(first)
    estimate = observer.update(replace(first, time=first.time + jump))
    assert estimate.status == "diverged"
    np.testing.assert_allclose(estimate.q[:3], [1.0, 2.0, A1.stand_height], atol=1e-9)


def random_covariance(seed: int) -> np.ndarray:
    root = np.random.default_rng(seed).standard_normal((6, 6))
    return root @ root.T + 0.1 * np.eye(6)


def test_predict_is_the_textbook_prediction() -> None:
    dt, a, velocity_variance, position_variance = 0.01, 3.0, 0.2, 0.05
    x, covariance = np.arange(6.0), random_covariance(0)
    transition = np.eye(6)
    transition[POSITION, VELOCITY] = dt
    noise_input = np.array([0.5 * dt, 1.0, 0, 0, 0, 0])
    expected_x = transition @ x + a * np.array([0.5 * dt**2, dt, 0, 0, 0, 0])
    expected = transition @ covariance @ transition.T
    expected += velocity_variance * np.outer(noise_input, noise_input)
    expected[POSITION, POSITION] += position_variance
    predict(x, covariance, a, dt, velocity_variance, position_variance)
    np.testing.assert_allclose(x, expected_x, rtol=1e-14)
    np.testing.assert_allclose(covariance, expected, rtol=1e-13)


def test_scalar_corrections_equal_the_batch_whatever_their_order() -> None:
    x, covariance = np.arange(6.0), random_covariance(2)
    rows = np.array([np.eye(6)[FEET + i] - np.eye(6)[POSITION] for i in range(4)])
    rows = np.vstack([rows, np.eye(6)[VELOCITY]])
    measured, variances = np.arange(5.0), np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    gain = covariance @ rows.T @ np.linalg.inv(rows @ covariance @ rows.T + np.diag(variances))
    expected_x = x + gain @ (measured - rows @ x)
    expected = covariance - gain @ rows @ covariance
    for i in (4, 2, 0, 3, 1):
        plus, minus = (VELOCITY, NO_STATE) if i == 4 else (FEET + i, POSITION)
        correct(x, covariance, plus, minus, measured[i], variances[i])
    np.testing.assert_allclose(x, expected_x, rtol=1e-10)
    np.testing.assert_allclose(covariance, expected, atol=1e-11)
    assert np.array_equal(covariance, covariance.T)
