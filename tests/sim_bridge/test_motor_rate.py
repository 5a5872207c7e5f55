"""How often the motors' law is evaluated: 2 kHz moves joints as 20 kHz does."""

import numpy as np

from runtime.messages import MotorCommand
from sim_bridge.options import SensorOptions, SimulationOptions
from sim_bridge.simulated_robot import SimulatedRobot
from tests.a1 import A1

SWING = 0.15 * np.tile([0.2, 1.0, -2.0], 4)  # [rad], at 3 Hz


def joints_under_swing(timestep: float) -> np.ndarray:
    """Joints (600, 12) of a stand that swings, with a step of 0.05 rad in the middle."""
    robot = SimulatedRobot(
        A1, SimulationOptions(timestep=timestep, sensors=SensorOptions(noise=0.0))
    )
    ones, joints = np.ones(12), []
    for tick in range(600):
        q = A1.stand + SWING * np.sin(6e-3 * np.pi * tick) + 0.05 * (tick > 300)
        command = MotorCommand(
            tick=tick, time=1e-3 * tick, q=q, dq=0.0 * ones, kp=100.0 * ones, kd=5.0 * ones,
            tau=0.0 * ones, plan_id=0, status="ok",
        )  # fmt: skip
        robot.advance(command)
        joints.append(robot.truth().q[7:].copy())
    return np.array(joints)


def test_two_kilohertz_move_joints_as_twenty_do_and_ten_come_nearer():
    twenty = joints_under_swing(0.00005)
    off = [np.sqrt(np.mean((joints_under_swing(step) - twenty) ** 2)) for step in (5e-4, 1e-4)]
    assert off[1] < 0.3 * off[0] < 0.3e-3  # [rad]
