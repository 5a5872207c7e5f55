"""Readings that cannot be used, divergence, and gaps: counted, never raised."""

import numpy as np
import pytest
from msgspec.structs import replace

from tests.a1 import A1
from tests.estimator.estimators import invariant
from tests.estimator.synthetic_walk import KinematicRobot, Trot, errors, follow

BAD = ["quaternion_imu_in_world", "linear_acceleration_imu", "joint_velocity", "foot_force"]


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
def test_an_unusable_reading_is_left_out_and_counted(name: str, value: float) -> None:
    robot, observer = KinematicRobot(), invariant()
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
    reading, observer = KinematicRobot().reading(), invariant()
    estimate = observer.update(replace(reading, joint_position=np.full(12, np.nan)))
    assert estimate.status == "starting"
    assert np.isfinite(estimate.q).all() and np.isfinite(estimate.v).all()
    assert observer.update(reading).status == "degraded"  # for 20 ms


@pytest.mark.parametrize("block", ["covariance", "rotation", "vectors", "biases"])
def test_a_diverged_filter_restarts_from_kinematics_where_it_was(block: str) -> None:
    robot = KinematicRobot()
    walk, observer = Trot(robot, np.array([0.5, 0.0, 0.0])), invariant()
    observer.update(robot.reading())
    follow(robot, walk.step, 600, observer)
    getattr(observer._memory, block)[1, 2] = np.nan
    walk.step()
    estimate = observer.update(robot.reading())
    assert (estimate.status, observer.divergences) == ("diverged", 1)
    position, _ = errors(estimate, robot)
    assert np.abs(position).max() < 0.02
    walk.step()
    assert observer.update(robot.reading()).status == "degraded"  # its torques are zero


@pytest.mark.parametrize("jump", [5.0, -0.01])
def test_a_gap_or_a_step_back_in_time_restarts(jump: float) -> None:
    robot, observer = KinematicRobot(), invariant()
    observer.reset(np.array([1.0, 2.0]))
    first = robot.reading()
    observer.update(first)
    estimate = observer.update(replace(first, time=first.time + jump))
    assert estimate.status == "diverged"
    np.testing.assert_allclose(estimate.q[:3], [1.0, 2.0, A1.stand_height], atol=1e-9)


def test_a_reading_as_old_as_the_last_one_only_corrects() -> None:
    robot, observer = KinematicRobot(), invariant()
    for _ in range(20):
        observer.update(robot.reading())
        robot.step()
    observer.update(robot.reading())
    before = np.trace(observer.velocity_covariance)
    assert observer.update(robot.reading()).status == "ok"
    assert np.trace(observer.velocity_covariance) < before
