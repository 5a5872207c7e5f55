"""A robot that starts on its belly: limp, at rest, and not taken for one that has fallen."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from robots.conventions import GRAVITY
from sim_bridge.options import SensorOptions, SimulationOptions, StartOptions
from sim_bridge.simulated_robot import SimulatedRobot
from tests.a1 import A1

PERFECT = SensorOptions(noise=0)
LYING = ("folded", "sprawled")


@pytest.mark.parametrize("slope", [0.0, 0.1])
@pytest.mark.parametrize("start", LYING)
def test_lies_on_its_belly_and_stays_so(start, slope):
    robot = SimulatedRobot(A1, SimulationOptions(start=StartOptions(start), floor_slope=slope))
    before = robot.truth()
    assert (robot.tick, robot.time) == (0, 0.0)
    assert_array_equal(before.v, 0.0)
    assert before.trunk_contact
    assert np.hypot(*before.q[:2]) < 0.1
    joints = before.q[7:]
    assert (joints > A1.legs.lower - 0.02).all() and (joints < A1.legs.upper + 0.02).all()
    for _ in range(500):
        robot.advance(None)
    assert_allclose(robot.truth().q, before.q, atol=0.01)
    assert not robot.fell


@pytest.mark.parametrize("start", LYING)
def test_limp_motors_give_no_torque_and_the_floor_carries_all(start):
    robot = SimulatedRobot(A1, SimulationOptions(start=StartOptions(start), sensors=PERFECT))
    for _ in range(50):
        robot.advance(None)
        assert_array_equal(robot.reading().joint_torque, 0.0)
    assert_allclose(robot.reading().linear_acceleration_imu @ [0, 0, 1], GRAVITY, atol=0.3)
    assert robot.truth().foot_force[:, 2].sum() < A1.mass * GRAVITY


def test_falls_are_judged_when_asked_and_always_for_a_robot_that_stood():
    robot = SimulatedRobot(A1, SimulationOptions(start=StartOptions("folded")))
    assert not robot.judge_falls
    robot.judge_falls = True
    robot.advance(None)
    assert robot.fell
    assert SimulatedRobot(A1).judge_falls
