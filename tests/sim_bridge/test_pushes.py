"""Kicks and forces change the robot's momentum by what they promise."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from robots.pinocchio_model import load_pinocchio
from robots.rotations import rotation_from_quaternion
from robots.state import pinocchio_from_mujoco
from sim_bridge.options import SimulationOptions
from sim_bridge.perturbation_script import PerturbationScript
from sim_bridge.perturbations import BaseForce, BaseVelocity
from sim_bridge.simulated_robot import SimulatedRobot
from tests.a1 import A1, feet_in_world
from tests.differences import slopes


def velocity_base_in_world(robot):
    truth = robot.truth()
    return rotation_from_quaternion(truth.q[3:7]) @ truth.v[:3]


def in_flight(script):
    """A robot two metres up, turned half left, so that base and world axes differ."""
    robot = SimulatedRobot(A1, SimulationOptions(), script)
    q = robot.truth().q
    q[2], q[3:7] = 2.0, (0.1, 0.0, np.sin(0.5), 0.0)
    q[6] = np.sqrt(1.0 - np.sum(q[3:6] ** 2))
    robot.place(q, np.zeros(18))
    return robot


def test_a_kick_shows_in_the_next_tick_and_not_before():
    kicked = in_flight(PerturbationScript((BaseVelocity(0.002, (0.0, 1.5, 0.0)),)))
    free = in_flight(PerturbationScript())
    changes = []
    for _ in range(5):
        changes.append(velocity_base_in_world(kicked) - velocity_base_in_world(free))
        kicked.advance(None)
        free.advance(None)
    assert_array_equal(changes[:3], 0.0)
    assert_allclose(changes[3], [0.0, 1.5, 0.0], atol=0.01)


@pytest.mark.parametrize("force", [(0.0, 80.0, 0.0), (30.0, -20.0, 50.0)])
def test_a_force_in_flight_changes_momentum_by_force_times_time(force):
    model = load_pinocchio(A1)
    data = model.createData()
    robot = in_flight(PerturbationScript((BaseForce(0.02, force, 0.1),)))
    for _ in range(200):
        robot.advance(None)
    truth = robot.truth()
    pin.centerOfMass(model, data, truth.q, truth.v)
    mass = pin.computeTotalMass(model)
    expected = np.array(force) * 0.1 / mass + [0.0, 0.0, -9.81 * 0.2]
    assert_allclose(data.vcom[0], expected, atol=2e-3)


def foot_velocity(robot, leg):
    """Of a foot in the world, by differences along the robot's present velocity."""
    q, v = pinocchio_from_mujoco(robot.data.qpos, robot.data.qvel)
    model = load_pinocchio(A1)
    return slopes(lambda t: feet_in_world(pin.integrate(model, q, t * v))[leg], 0.0)


@pytest.mark.parametrize("leg", range(4))
@pytest.mark.parametrize("velocity", [(0.0, 1.5, 0.0), (-0.7, 0.3, 2.0)])
def test_a_push_of_a_leg_moves_its_foot_by_just_that_and_nothing_else(leg, velocity):
    robot = in_flight(PerturbationScript())
    for _ in range(5):  # so that it moves already
        robot.advance(None)
    robot.add_base_velocity(np.array([0.2, -0.4, 0.1]))  # a push of the base at once is kept
    before = np.array([foot_velocity(robot, each) for each in range(4)])
    qpos, qvel = robot.data.qpos.copy(), robot.data.qvel.copy()
    robot.add_foot_velocity(leg, np.array(velocity))
    change = np.array([foot_velocity(robot, each) for each in range(4)]) - before
    assert_allclose(change[leg], velocity, atol=1e-6)
    assert_allclose(np.delete(change, leg, axis=0), 0.0, atol=1e-6)
    others = np.delete(np.arange(18), range(6 + 3 * leg, 9 + 3 * leg))
    assert_allclose(robot.data.qvel[others], qvel[others], atol=1e-12)
    assert_allclose(robot.data.qpos, qpos, atol=1e-12)
