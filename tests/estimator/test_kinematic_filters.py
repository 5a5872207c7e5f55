"""Leg odometry and the invariant filter on a kinematic robot: accuracy, laws, faults."""

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.testing import assert_allclose, assert_array_equal

from estimator.leg_odometry import FEET, NO_STATE, POSITION, VELOCITY, correct, predict
from estimator.options import InvariantOptions
from robots.conventions import GRAVITY
from robots.rotations import exp3
from tests.a1 import A1
from tests.estimator.estimators import check_estimate, invariant, leg_odometry
from tests.estimator.standing_robot import expected_noise
from tests.estimator.synthetic_walk import (
    DT,
    KinematicRobot,
    Trot,
    errors,
    follow,
    real_noise,
    walk_readings,
)

FILTERS = pytest.mark.parametrize("make", [leg_odometry, invariant])
SHIFT = np.array([3.0, -2.0, 0.0])


def rmse(error):
    return float(np.sqrt((error**2).sum(axis=1).mean()))


@FILTERS
def test_the_first_reading_places_a_standing_robot_exactly(make):
    estimate = make().update(KinematicRobot(yaw=0.7).reading())
    q = [0.0, 0.0, A1.stand_height, 0.0, 0.0, np.sin(0.35), np.cos(0.35)]
    assert_allclose(estimate.q[:7], q, atol=1e-9)
    assert_allclose(estimate.v, 0.0, atol=1e-12)
    assert_array_equal(estimate.contact, 1.0)
    assert estimate.status == "ok"


@FILTERS
@pytest.mark.parametrize("velocity, yaw_rate", [((0.0, 0.0, 0.0), 0.0), ((0.2, 0.2, 0.0), 0.5)])
def test_a_stand_and_a_trot_are_tracked(make, velocity, yaw_rate):
    robot, observer = KinematicRobot(real_noise()), make()
    walk = Trot(robot, np.array(velocity), yaw_rate) if any(velocity) else robot
    observer.update(robot.reading())
    position, error = follow(robot, walk.step, 1200, observer)
    assert rmse(error[300:]) < (0.04 if make is leg_odometry else 0.02)
    assert abs(error[300:].mean(axis=0)).max() < 0.01
    assert np.linalg.norm(position[-1]) < 0.02 * np.linalg.norm(velocity) * 1200 * DT + 0.005
    assert np.abs(position[500:, 2]).max() < (2e-3 if walk is robot else 5e-3)


def test_biases_of_the_imu_are_observed():
    """With an orientation known to be unbiased; tilt and horizontal bias mix without it."""
    options, robot = InvariantOptions(), KinematicRobot(expected_noise())
    gyroscope, accelerometer = np.array([4e-3, -3e-3, 2e-3]), np.array([0.05, -0.04, 0.03])
    observer = invariant(replace(options, orientation_bias=1e-6, orientation_walk=1e-9))
    for tick in range(2500):
        robot.step()
        reading = robot.reading()
        rate = reading.angular_velocity_imu + gyroscope
        force = reading.linear_acceleration_imu + accelerometer
        estimate = observer.update(
            replace(reading, angular_velocity_imu=rate, linear_acceleration_imu=force)
        )
        position, velocity = errors(estimate, robot)
        assert tick < 1000 or abs(position[2]) < 1e-3 and abs(velocity).max() < 0.01
    assert_allclose(observer.biases[0], gyroscope, atol=5e-4)
    assert_allclose(observer.biases[1], accelerometer, atol=0.01)


def test_without_rolling_the_velocity_is_biased():
    """Contacts that stand on points lose omega_calf r, a few cm/s at half a metre a second."""
    means = []
    for published in (False, True):
        robot = KinematicRobot(real_noise())
        walk = Trot(robot, np.array([0.5, 0.0, 0.0]))
        observer = invariant(InvariantOptions(published=published))
        observer.update(robot.reading())
        _, error = follow(robot, walk.step, 500, observer)
        means.append(abs(error[300:, 0].mean()))
    assert means[0] < 0.006 and means[1] > 0.02


@pytest.mark.parametrize("walking", [False, True])
def test_the_velocity_covariance_covers_the_error(walking):
    """On feet that hold perfectly it may be too large (the options allow for slip), never small."""
    robot, observer, squared = KinematicRobot(expected_noise()), invariant(), []
    walk = Trot(robot, np.array([0.3, 0.1, 0.0])) if walking else robot
    observer.update(robot.reading())
    for _ in range(900):
        walk.step()
        estimate = observer.update(robot.reading())
        error = estimate.v[:3] - robot.rotation.T @ robot.velocity
        squared.append(error @ np.linalg.solve(observer.velocity_covariance, error))
    assert 0.05 < np.mean(squared[200:]) < 5.0 and np.quantile(squared[200:], 0.95) < 12.0


@FILTERS
@pytest.mark.parametrize("stance", [[1, 1, 1, 1], [1, 0, 0, 1]])
@pytest.mark.parametrize("direction", [[0.0, -1.5, 0.0], [1.5, 0.0, 0.0]])
def test_a_push_of_the_base_is_caught_up_with_in_milliseconds(make, stance, direction):
    """A jump of the base velocity that the accelerometer does not see; the feet hold."""
    robot, observer = KinematicRobot(real_noise()), make()
    robot.stance = np.array(stance, dtype=bool)
    follow(robot, robot.step, 500, observer)
    robot.velocity = robot.velocity + direction
    _, velocity = follow(robot, robot.step, 30, observer)
    assert np.linalg.norm(velocity[0]) > 0.5  # not by magic: the first sample might be a slip
    assert np.linalg.norm(velocity[8:], axis=1).max() < 0.15
    assert observer.divergences == 0


@FILTERS
def test_one_slipping_foot_does_not_move_the_base(make):
    robot, observer = KinematicRobot(real_noise()), make()
    follow(robot, robot.step, 500, observer)
    robot.stance[0], robot.force = False, np.full(4, 33.0)
    robot.foot_velocities[0] = [0.0, 1.0, 0.0]
    position, velocity = follow(robot, robot.step, 50, observer)
    assert np.linalg.norm(velocity, axis=1).max() < 0.1
    assert np.linalg.norm(position[-1]) < 0.01


@FILTERS
def test_flight_follows_the_parabola_and_landing_brings_the_height_back(make):
    robot, observer = KinematicRobot(real_noise()), make()
    follow(robot, robot.step, 300, observer)
    robot.stance[:] = False
    robot.velocity, robot.foot_velocities[:] = np.zeros(3), 0.0
    robot.acceleration = np.array([0.0, 0.0, -GRAVITY])
    position, velocity = follow(robot, robot.step, 100, observer)
    assert np.abs(velocity).max() < 0.06 and np.abs(position).max() < 0.01
    assert observer.update(robot.reading()).contact.max() == 0.0
    robot.acceleration, robot.velocity = np.zeros(3), np.zeros(3)
    robot.stance[:] = True
    position, velocity = follow(robot, robot.step, 400, observer)
    assert abs(position[-1, 2]) < 3e-3 and np.linalg.norm(velocity[-1]) < 0.05


@pytest.mark.parametrize(
    "make, options",
    [(leg_odometry, None), (invariant, None), (invariant, InvariantOptions(published=True))],
)
def test_turning_shifting_and_delaying_the_world_does_so_to_the_estimates(make, options):
    plain, moved, again = make(options), make(options), make(options)
    moved.reset(SHIFT)
    turn = exp3(np.array([0.0, 0.0, 2.1]))
    for a, b in zip(walk_readings(0.0), walk_readings(2.1), strict=True):
        one, other = plain.update(a), moved.update(replace(b, tick=b.tick + 7, time=b.time + 4096))
        assert again.update(a) == one and (other.tick, other.time) == (a.tick + 7, a.time + 4096)
        assert_allclose(turn @ one.q[:3] + SHIFT, other.q[:3], atol=1e-8)
        assert_allclose(one.v, other.v, atol=1e-7)
    covariances = plain.velocity_covariance, moved.velocity_covariance
    assert_allclose(*covariances, rtol=1e-4, atol=1e-10)


@pytest.mark.parametrize("make, height, sideways", [(leg_odometry, 2, 0), (invariant, 8, 6)])
def test_the_covariance_stays_positive_definite_through_a_long_stand(make, height, sideways):
    observer, reading = make(), KinematicRobot().reading()
    for tick in range(5_000):
        observer.update(replace(reading, tick=tick, time=5e-3 * tick))
    covariance = observer.covariance
    assert np.array_equal(covariance, covariance.T)
    np.linalg.cholesky(covariance)
    # only the height can be seen
    assert covariance[height, height] < 1e-5 < covariance[sideways, sideways]


BAD = ["quaternion_imu_in_world", "linear_acceleration_imu", "joint_velocity", "foot_force"]


@FILTERS
@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("value", [np.nan, 1e30])
def test_an_unusable_reading_is_left_out_and_counted(make, name, value):
    robot, observer = KinematicRobot(), make()
    for _ in range(20):
        last = observer.update(robot.reading())
        robot.step()
    array = getattr(robot.reading(), name).copy()
    array[-1] = value
    estimate = observer.update(replace(robot.reading(), **{name: array}))
    assert (estimate.status, observer.divergences) == ("diverged", 1)
    assert_array_equal(estimate.q, last.q)
    robot.step()
    position, velocity = errors(observer.update(robot.reading()), robot)
    assert max(np.abs(position).max(), np.abs(velocity).max()) < 1e-6


@FILTERS
def test_an_unusable_first_reading_says_starting_with_finite_numbers(make):
    reading, observer = KinematicRobot().reading(), make()
    estimate = observer.update(replace(reading, joint_position=np.full(12, np.nan)))
    assert estimate.status == "starting"
    check_estimate(estimate)
    assert observer.update(reading).status == "degraded"  # for 20 ms


@FILTERS
def test_a_diverged_filter_restarts_from_kinematics_where_it_was(make):
    robot, observer = KinematicRobot(), make()
    walk = Trot(robot, np.array([0.5, 0.0, 0.0]))
    observer.update(robot.reading())
    follow(robot, walk.step, 600, observer)
    observer._memory.covariance[1, 2] = np.nan  # no reading that is let in makes it diverge
    walk.step()
    estimate = observer.update(robot.reading())
    assert (estimate.status, observer.divergences) == ("diverged", 1)
    assert np.abs(errors(estimate, robot)[0]).max() < 0.02
    walk.step()
    assert observer.update(robot.reading()).status == "degraded"  # its torques are zero


@FILTERS
@pytest.mark.parametrize("jump", [5.0, -0.01])
def test_a_gap_or_a_step_back_in_time_restarts(make, jump):
    observer, first = make(), KinematicRobot().reading()
    observer.reset(np.array([1.0, 2.0]))
    observer.update(first)
    estimate = observer.update(replace(first, time=first.time + jump))
    assert estimate.status == "diverged"
    assert_allclose(estimate.q[:3], [1.0, 2.0, A1.stand_height], atol=1e-9)


def test_the_filter_of_one_axis_is_the_textbooks():
    """Prediction, and scalar corrections in any order, which equal the batch."""
    dt, a, velocity_variance, position_variance = 0.01, 3.0, 0.2, 0.05
    root = np.random.default_rng(2).standard_normal((6, 6))
    x, P = np.arange(6.0), root @ root.T + 0.1 * np.eye(6)
    F = np.eye(6)
    F[POSITION, VELOCITY] = dt
    G = np.array([0.5 * dt, 1.0, 0, 0, 0, 0])
    wanted_x, wanted = F @ x + a * dt * G, F @ P @ F.T + velocity_variance * np.outer(G, G)
    wanted[POSITION, POSITION] += position_variance
    predict(x, P, a, dt, velocity_variance, position_variance)
    assert_allclose(x, wanted_x, rtol=1e-13)
    assert_allclose(P, wanted, rtol=1e-13)
    rows = np.array([np.eye(6)[FEET + i] - np.eye(6)[POSITION] for i in range(4)])
    rows = np.vstack([rows, np.eye(6)[VELOCITY]])
    measured, variances = np.arange(5.0), np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    gain = P @ rows.T @ np.linalg.inv(rows @ P @ rows.T + np.diag(variances))
    wanted_x, wanted = x + gain @ (measured - rows @ x), P - gain @ rows @ P
    for i in (4, 2, 0, 3, 1):
        plus, minus = (VELOCITY, NO_STATE) if i == 4 else (FEET + i, POSITION)
        correct(x, P, plus, minus, measured[i], variances[i])
    assert_allclose(x, wanted_x, rtol=1e-10)
    assert_allclose(P, wanted, atol=1e-11)
    assert np.array_equal(P, P.T)
