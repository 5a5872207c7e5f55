"""A simulated robot whose physics a server computes: the same robot, and an orderly loss."""

import time

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx

from robots.conventions import GRAVITY
from runtime.bus import Bus, Endpoints
from runtime.clock import PausedClock
from sim_bridge.node import SimulationNodeOptions, run
from sim_bridge.options import MotorOptions, SimulationOptions, StartOptions
from sim_bridge.perturbation_script import PerturbationScript
from sim_bridge.perturbations import BaseForce, BaseVelocity, MotorBlock
from sim_bridge.physics.mujoco_physics import MujocoPhysics
from sim_bridge.rollouts.unavailable import Unavailable
from sim_bridge.simulated_robot import SimulatedRobot
from tests.a1 import A1, stand_command
from tests.refusals import refusal
from tests.sim_bridge.isaac_gym.stand_in import Server
from tests.sim_bridge.physics.served_world import answering, mujoco_server, options_of

SCRIPT = PerturbationScript(
    (
        BaseVelocity(0.02, (0.3, 0.8, 0.0)),
        BaseForce(0.05, (0.0, 60.0, 10.0), 0.05),
        MotorBlock(0.12, 0.02),
    )
)


LIFT = np.array([0.1, 0.0, 0.2] + [0.0] * 16)


def command(tick, reading):
    """Depends on the encoders alone, which do not see how a world velocity was rounded."""
    return stand_command(
        tick, 1e-3 * tick, dq=0.1 * reading.joint_velocity, tau=0.1 * reading.joint_torque
    )


def remote(folder, **changed):
    return SimulationOptions(engine="remote", server=options_of(folder), **changed)


@pytest.fixture
def end_server(tmp_path):
    with mujoco_server(tmp_path) as end:
        yield end


def begun_as_served(robot):
    """Begin the world of a robot in this process as a server does: its state placed, no more."""
    motion, physics = robot._physics.motion, MujocoPhysics(A1, robot.options)
    physics.place(motion.q, motion.v)
    robot._physics = physics


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {
            "input_delay": 0.0073,
            "payload_mass": 2.0,
            "mass_scale": 1.1,
            "friction": 0.6,
            "motors": MotorOptions(torque_limit=20.0, no_load_speed=18.0, corner_speed=6.0),
        },
        {"floor_slope": 0.1, "start": StartOptions("sprawled", 1.0, (3.0, 4.0))},
    ],
)
def test_a_served_robot_is_a_local_one_bit_for_bit(tmp_path, end_server, changed):
    there = SimulatedRobot(A1, remote(tmp_path, **changed), SCRIPT)
    here = SimulatedRobot(A1, SimulationOptions(**changed), SCRIPT)
    assert here.truth() == there.truth()  # at the start, torques and forces included
    begun_as_served(here)
    for tick in range(200):
        if tick == 30:
            for robot in (here, there):
                robot.drive_joints(np.linspace(-1.0, 1.0, 12))
        if tick == 160:
            for robot in (here, there):
                robot.add_base_velocity(np.ones(3))  # and forget it
                robot.place(robot.truth().q + LIFT, np.linspace(-1, 1, 18))
        for robot in (here, there):
            robot.advance(command(tick, robot.reading()) if tick % 3 else None)
        reading, expected = there.reading(), here.reading()
        assert there.truth() == here.truth()
        assert_array_equal(reading.joint_position, expected.joint_position)
        assert_array_equal(reading.joint_torque, expected.joint_torque)
        # The wire has velocities in the base and forces in the world; turned, they are rounded.
        assert_allclose(reading.foot_force, expected.foot_force, atol=1e-9)
        assert_allclose(
            reading.linear_acceleration_imu, expected.linear_acceleration_imu, atol=1e-9
        )
    assert not there.loss
    there.close()


def test_a_lost_server_leaves_the_robot_as_it_was_and_costs_no_time(tmp_path, end_server):
    robot = SimulatedRobot(A1, remote(tmp_path))
    robot.advance(None)
    before = robot.truth()
    end_server()
    began = time.monotonic()
    for _ in range(200):
        robot.advance(None)
    robot.place(np.zeros(19), np.zeros(18))
    assert time.monotonic() - began < 4.0  # less than the patience with one question
    assert robot.loss and str(tmp_path) in robot.loss and "\n" not in robot.loss
    assert robot.tick == 201
    assert_array_equal(robot.truth().q, before.q)
    assert not robot.fell
    robot.close()


def test_nobody_there_and_nobody_with_a_robot_are_said_at_the_start(tmp_path):
    server = replace(options_of(tmp_path), patience=0.1)
    assert "saltus serve" in refusal(
        Unavailable, SimulatedRobot, A1, SimulationOptions(engine="remote", server=server)
    )
    with mujoco_server(tmp_path, robot=False):  # noqa: SIM117  one after the other
        assert str(tmp_path) in refusal(Unavailable, SimulatedRobot, A1, remote(tmp_path))


def test_the_simulations_process_ends_in_order_when_its_physics_is_lost(tmp_path, end_server):
    robot = SimulatedRobot(A1, remote(tmp_path))
    options = SimulationNodeOptions(reading_subscribers=0)

    class Clock(PausedClock):
        paused = False  # nobody commands

        def wait_tick(self):
            if self._tick == 4:
                end_server()
            return super().wait_tick()

    with Bus(Endpoints.ipc(tmp_path / "bus")) as bus:
        report = run(robot, bus, Clock(0.001), 1.0, lambda: False, options)
    assert (report["status"], report["ticks"]) == ("lost_physics", 6)
    assert str(tmp_path) in report["loss"]
    robot.close()


def test_isaac_gyms_server_carries_the_robot_by_the_same_messages(tmp_path):
    """Behind the stand-in for Isaac Gym: says that frames and orders fit, nothing of PhysX."""
    front = Server().front
    with answering(tmp_path, lambda frame: front.answer(b"a", frame)):
        robot = SimulatedRobot(
            A1, SimulationOptions(engine="isaacgym", server=options_of(tmp_path), timestep=0.001)
        )
        for _ in range(100):
            robot.advance(None)
        truth = robot.truth()
        assert not robot.loss, robot.loss
        robot.close()
    assert_allclose(truth.q[7:], A1.stand, atol=0.05)
    assert truth.foot_force[:, 2].sum() == approx(A1.mass * GRAVITY, rel=0.1)
    assert not robot.fell
