"""Kicks and forces change the robot's momentum by what they promise."""

import numpy as np
import pinocchio as pin
import pytest

from robots.a1.pinocchio_model import load_pinocchio
from robots.rotations import rotation_from_quaternion
from sim_bridge.options import SimulationOptions
from sim_bridge.perturbation_script import PerturbationScript
from sim_bridge.perturbations import BaseForce, BaseVelocity
from sim_bridge.simulated_a1 import SimulatedA1


def velocity_base_in_world(robot: SimulatedA1) -> np.ndarray:
    truth = robot.truth()
    return rotation_from_quaternion(truth.q[3:7]) @ truth.v[:3]


def in_flight(script: PerturbationScript) -> SimulatedA1:
    """A robot two metres up, turned half left, so that base and world axes differ."""
    robot = SimulatedA1(SimulationOptions(), script)
    q = robot.truth().q
    q[2], q[3:7] = 2.0, (0.1, 0.0, np.sin(0.5), 0.0)
    q[6] = np.sqrt(1.0 - np.sum(q[3:6] ** 2))
    robot.place(q, np.zeros(18))
    return robot


def test_a_kick_adds_exactly_its_value_in_the_world_frame() -> None:
    kick = (0.3, 1.5, -0.2)
    robot = in_flight(PerturbationScript((BaseVelocity(0.0, kick),)))
    before = robot.data.qvel.copy()
    PerturbationScript((BaseVelocity(0.0, kick),)).apply(robot, 0)
    np.testing.assert_array_equal(robot.data.qvel - before, [*kick, *np.zeros(15)])


def test_a_kick_shows_in_the_next_tick_and_not_before() -> None:
    kicked = in_flight(PerturbationScript((BaseVelocity(0.002, (0.0, 1.5, 0.0)),)))
    free = in_flight(PerturbationScript())
    changes = []
    for _ in range(5):
        changes.append(velocity_base_in_world(kicked) - velocity_base_in_world(free))
        kicked.advance(None)
        free.advance(None)
    np.testing.assert_array_equal(changes[:3], 0.0)
    np.testing.assert_allclose(changes[3], [0.0, 1.5, 0.0], atol=0.01)


@pytest.mark.parametrize("force", [(0.0, 80.0, 0.0), (30.0, -20.0, 50.0)])
def test_a_force_in_flight_changes_momentum_by_force_times_time(
    force: tuple[float, float, float],
) -> None:
    model = load_pinocchio()
    data = model.createData()
    robot = in_flight(PerturbationScript((BaseForce(0.02, force, 0.1),)))
    for _ in range(200):
        robot.advance(None)
    truth = robot.truth()
    pin.centerOfMass(model, data, truth.q, truth.v)
    mass = pin.computeTotalMass(model)
    expected = np.array(force) * 0.1 / mass + [0.0, 0.0, -9.81 * 0.2]
    np.testing.assert_allclose(data.vcom[0], expected, atol=2e-3)
