"""Velocity of the contact points and height of the feet: values, and Jacobians by differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator.salted.measurements import foot_rows
from estimator.salted.memory import ANGULAR, JOINTS, POSITION, RATES, ROTATION, VELOCITY
from robots.state import integrate
from tests.a1 import A1
from tests.estimator.salted_case import LEGS, differentiate, random_memory
from tests.estimator.synthetic_walk import KinematicRobot, Noise, Trot

RADII = np.array([0.02, 0.017, 0.02, 0.015])
LEVEL = np.tile([0.0, 0.0, 1.0], (4, 1))
TILTED = np.array([[0.3, 0.0, 1.0], [-0.1, 0.2, 1.0], [0.0, -0.4, 1.0], [0.0, 0.0, 1.0]])
TILTED /= np.linalg.norm(TILTED, axis=1, keepdims=True)


def velocity_columns(foot: int) -> list[int]:
    starts = (VELOCITY, ANGULAR, RATES + 3 * foot, JOINTS + 3 * foot, ROTATION)
    return [start + j for start in starts for j in range(3)]


def height_columns(foot: int) -> list[int]:
    return [start + j for start in (POSITION, ROTATION, JOINTS + 3 * foot) for j in range(3)]


@settings(max_examples=15)
@given(st.integers(0, 10_000))
def test_jacobians_are_finite_differences(seed: int) -> None:
    """In every column of the state: what a row does not name does not matter to it."""
    m = random_memory(seed)
    rows = foot_rows(LEGS, m.q, m.v, RADII, TILTED)
    velocity = differentiate(
        lambda d: foot_rows(LEGS, *integrate(m.q, m.v, d), RADII, TILTED).velocity.ravel(), 36
    ).reshape(4, 3, 36)
    height = differentiate(
        lambda d: foot_rows(LEGS, *integrate(m.q, m.v, d), RADII, TILTED).height, 36
    )
    for foot in range(4):
        found = np.zeros((3, 36))
        found[:, velocity_columns(foot)] = rows.velocity_jacobian[foot]
        np.testing.assert_allclose(found, velocity[foot], atol=2e-7)
        found = np.zeros(36)
        found[height_columns(foot)] = rows.height_jacobian[foot]
        np.testing.assert_allclose(found, height[foot], atol=1e-8)


@pytest.mark.parametrize("yaw_rate", [0.0, 0.8])
def test_the_contact_point_of_a_rolling_foot_rests(yaw_rate: float) -> None:
    robot = KinematicRobot(Noise(), 0.6)
    walk = Trot(robot, np.array([0.4, -0.2, 0.0]), yaw_rate)
    for _ in range(120):
        walk.step()
    q = np.concatenate((robot.position, robot.reading().quaternion_imu_in_world, robot.joints()))
    base = robot.rotation.T @ robot.velocity
    v = np.concatenate((base, robot.omega, robot.reading().joint_velocity))
    rows = foot_rows(LEGS, q, v, np.full(4, A1.legs.foot_radius), LEVEL)
    assert np.abs(rows.velocity[robot.stance]).max() < 1e-5
    np.testing.assert_allclose(rows.height[robot.stance], A1.legs.foot_radius, atol=1e-9)
    assert np.linalg.norm(rows.velocity[~robot.stance], axis=1).min() > 0.1
    rigid = foot_rows(LEGS, q, v, np.zeros(4), LEVEL).velocity[robot.stance]
    assert np.linalg.norm(rigid, axis=1).min() > 0.01  # the centre does not
