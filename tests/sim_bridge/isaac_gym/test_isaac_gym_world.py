"""The simulated robot by the server behind the stand-in."""

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx

from robots.mujoco_model import load_mujoco
from robots.urdf import urdf_of
from runtime.physics_messages import Refusal, WorldReply
from sim_bridge.motors import motor_torques
from tests.a1 import A1
from tests.sim_bridge.isaac_gym.stand_in import Server
from tests.sim_bridge.isaac_gym.stand_in_gym import CALLS
from tests.sim_bridge.physics.requests import place_request, tick_request, world_request

Q = np.concatenate([[0, 0, A1.stand_height - 0.001, 0, 0, 0, 1], A1.stand])
UP = np.concatenate([[0, 0, 2.0], Q[3:]])
HOLD = np.array([A1.stand, np.zeros(12), np.full(12, 120.0), np.full(12, 3.0), np.zeros(12)])
LIMITS = np.outer((33.5, 10.5, 21.0), np.ones(12))  # of the motors


class Robot(Server):
    """A world of the server's, and its answers."""

    def __init__(self, q=UP, v=None, **world):
        super().__init__()
        self.state = self.begin(q, v, **world)

    def begin(self, q=UP, v=None, **world):
        return self.ask(world_request(q=q, v=np.zeros(18) if v is None else v, **world))

    def tick(self, command=None, steps=1, **outside):
        return self.ask(tick_request(command, steps, **outside))


def test_its_motors_have_their_law_at_every_step():
    v = np.concatenate((np.zeros(6), np.linspace(-18.0, 18.0, 12)))
    robot, expected = Robot(UP, v), np.empty(12)
    for _ in range(4):
        before = robot.state
        command = np.vstack((HOLD[:4], np.tile([80.0, -80.0], 6) * np.sign(v[6:])))
        robot.state = robot.tick(command)
        motor_torques(command, before.q[7:], before.v[6:], LIMITS, expected)
        assert_allclose(robot.state.torque, expected, atol=1e-12)


def test_a_push_a_torque_and_a_kick_from_outside_move_it_as_in_mujoco():
    turned = np.concatenate((UP[:3], [0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)], UP[7:]))  # to y
    force, torque = np.array([30.0, -50.0, 10.0]), np.linspace(-2.0, 3.0, 12)
    kick, model = np.array([0.4, -0.3, 0.2]), load_mujoco(A1, 0.0005)
    state = Robot(turned).tick(
        steps=20, base_force=force, joint_torque=torque, base_velocity=kick
    )
    data = mujoco.MjData(model)
    data.qpos[:] = [*UP[:3], np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5), *UP[7:]]
    data.qvel[:3] = kick
    for _ in range(20):
        data.xfrc_applied[model.body("trunk").id, :3] = force
        data.qfrc_applied[6:] = torque
        mujoco.mj_step(model, data)
    assert_allclose(state.q[:3], data.qpos[:3], atol=1e-5)
    assert_allclose(state.v[6:], data.qvel[6:], atol=2e-3)
    assert_allclose(state.v[:2], [data.qvel[1], -data.qvel[0]], atol=1e-3)
    assert not state.torque.any()  # of the motors


def test_a_world_like_the_last_one_keeps_its_process_and_another_client_takes_it_over():
    robot = Robot()
    robot.tick(HOLD, 10)
    CALLS.clear()
    assert_array_equal(robot.begin(Q).q, Q)
    assert isinstance(robot.ask(place_request(UP, np.zeros(18)), client=b"somebody"), Refusal)
    assert "spawn" not in CALLS
    robot.begin(Q, friction=0.3)
    assert CALLS.count("spawn") == 1


def test_the_trunk_on_the_floor_is_seen():
    for height, touches in ((0.056, True), (0.06, False)):
        state = Robot(np.concatenate([[0, 0, height, 0, 0, 0, 1], [0, 3.1, -1.0] * 4])).tick()
        assert state.trunk_contact == touches and not state.foot_force.any()


def test_it_stands_with_the_world_s_masses():
    heavy = {"payload_mass": 3.0, "mass_scale": 1.1}
    for mass, world in ((A1.mass, {}), (1.1 * A1.mass + 3.0, heavy)):
        robot = Robot(Q, **world)
        robot.tick(HOLD, 1000)
        state = robot.tick(HOLD)
        assert state.foot_force[:, 2].sum() == approx(mass * 9.81, rel=0.01)
        assert state.foot_force[:, 2].min() > 0.15 * mass * 9.81 and not state.trunk_contact


def test_a_diverged_robot_stays_diverged_until_it_is_placed():
    robot = Robot(UP, np.concatenate(([999.9], np.zeros(17))))
    for _ in range(2):
        assert np.isnan(robot.tick(steps=2, base_velocity=np.ones(3)).q).all()
    robot.ask(place_request(UP, np.zeros(18)))
    assert np.isfinite(robot.tick().q).all()


@pytest.mark.parametrize("urdf, named", [
    ("none", "ParseError"), (urdf_of(A1).replace("FR_hip_joint", "FR_abduction"), "FR_abduction"),
])  # fmt: skip
def test_a_robot_that_cannot_be_is_refused_and_leaves_no_world(urdf, named):
    robot = Robot(urdf=urdf)
    assert isinstance(robot.state, Refusal) and "\n" not in robot.state.reason
    assert named in robot.state.reason and isinstance(robot.tick(), Refusal)
    assert isinstance(robot.begin(), WorldReply)


def test_a_command_that_is_no_number_is_no_torque():
    robot = Robot()
    state = robot.tick(np.full((5, 12), np.nan), 3)
    assert isinstance(state, WorldReply) and not state.torque.any() and np.isfinite(state.q).all()
    assert not robot.tick(HOLD, blocked=True).torque.any()


def test_a_slope_rises_along_x():
    slope = 0.2
    rises = np.array([np.cos(slope), 0.0, np.sin(slope)])
    ahead = np.concatenate([A1.stand_height * np.array([0, 0, 1.0]) + 3.0 * rises, Q[3:]])
    robot = Robot(ahead, floor_slope=slope)
    assert robot.tick(HOLD, 100).q[2] == approx(ahead[2], abs=0.1)
    assert not Robot(UP, floor_slope=-slope).tick(HOLD).foot_force.any()
