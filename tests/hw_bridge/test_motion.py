"""The bridge's motions: continuous and bounded as such, and on the simulated robot's feet."""

import numpy as np
import pytest

from hw_bridge.motion import PostureMotions, weight_torque
from hw_bridge.setpoints import Setpoints
from hw_bridge.state_machine import MotionOptions, Request, RobotState, StateMachine
from hw_bridge.wire.layout import POS_STOP, VEL_STOP
from robots.conventions import GRAVITY
from robots.legs import foot_positions_in_base
from robots.rotations import rotation_from_quaternion
from runtime.messages import MotorCommand
from sim_bridge.options import SimulationOptions, StartOptions
from sim_bridge.simulated_robot import SimulatedRobot
from tests.a1 import A1

O = MotionOptions()  # noqa: E741
MOTIONS = PostureMotions(O, A1)
SPRAWLED = np.array([-0.7, 1.5, -1.3, 0.6, -0.9, -0.95, -0.6, 2.4, -1.6, 0.75, 1.9, -2.3])
TWISTED = np.array([-0.8, 0.7, -1.6, -0.5, 2.2, -1.1, -0.5, 1.7, -1.3, 0.5, 2.0, -2.69])
TROT = np.array([0.05, 1.1, -2.2, -0.05, 0.6, -1.5, -0.05, 0.9, -1.55, 0.05, 1.15, -2.15])


class Run:
    """A machine on the simulated robot, and the worst of what its motions led to."""

    def __init__(self, machine: StateMachine, robot: SimulatedRobot) -> None:
        self.machine, self.robot = machine, robot
        self.torque = self.speed = self.beyond = 0.0  # [N m], [rad/s], [rad]
        self.sent: Setpoints | None = None

    def step(self) -> None:
        robot, reading = self.robot, self.robot.reading()
        trunk = np.concatenate((reading.quaternion_imu_in_world, reading.angular_velocity_imu))
        q, dq = reading.joint_position, reading.joint_velocity
        self.sent = sent = self.machine.step(robot.time, q, dq, None, trunk)
        robot.advance(as_command(sent))
        if self.machine.state in (RobotState.STAND_UP, RobotState.READY, RobotState.SIT_DOWN):
            q, v = robot.truth().q[7:], robot.truth().v[6:]
            self.torque = max(self.torque, float(np.abs(robot.data.ctrl).max()))
            self.speed = max(self.speed, float(np.abs(v).max()))
            self.beyond = max(
                self.beyond, float(np.maximum(q - A1.legs.upper, A1.legs.lower - q).max())
            )

    def until(self, state: RobotState, seconds: float = 20.0) -> "Run":
        for _ in range(round(1e3 * seconds)):
            if self.machine.state is state:
                return self
            self.step()
        raise AssertionError(f"{self.machine.state} after {seconds} s: {self.machine.cause}")

    @property
    def tilt(self) -> float:
        cosine = rotation_from_quaternion(self.robot.truth().q[3:7])[2, 2]
        return float(np.arccos(min(1.0, cosine)))


def as_command(sent: Setpoints) -> MotorCommand:
    """The setpoints for a robot that does not know the wire's stop values."""
    spring, damper = sent.q != POS_STOP, sent.dq != VEL_STOP
    return MotorCommand(
        tick=0, time=0.0, q=np.where(spring, sent.q, 0.0), dq=np.where(damper, sent.dq, 0.0),
        kp=np.where(spring, sent.kp, 0.0), kd=np.where(damper, sent.kd, 0.0), tau=sent.tau,
        plan_id=-1, status="ok",
    )  # fmt: skip


def lying(joints: np.ndarray | None, **options: float) -> Run:
    """A robot that lies on its belly: let go above the floor with these joints, and damped."""
    start = StartOptions("folded")
    robot = SimulatedRobot(A1, SimulationOptions(start=start, input_delay=0.01, **options))
    if joints is not None:
        robot.place(np.concatenate(([0, 0, 0.2], [0, 0, 0, 1], joints)), np.zeros(18))
    machine = StateMachine(MotionOptions(damping_s=1.5), A1)
    machine.request(Request.STAND_UP, "")
    return Run(machine, robot)


def assert_stands(run: Run) -> None:
    assert np.abs(run.robot.truth().q[7:] - A1.stand).max() < 0.03
    assert run.robot.truth().q[2] == pytest.approx(A1.stand_height, abs=0.01)
    assert run.tilt < 0.03 and run.torque < 20.0 and run.beyond < 0.02


def test_it_sits_down_from_the_middle_of_a_trot() -> None:
    """Two feet in the air and the trunk at speed: it does not tip, and comes down in order."""
    robot = SimulatedRobot(A1, SimulationOptions(input_delay=0.01))
    height = 0.02 - foot_positions_in_base(A1.legs, TROT)[:, 2].min()
    velocity = np.concatenate(([0.4, 0.1, -0.1], [0.1, 0.1, 0.3], np.tile([0.5, 2.0, -3.0], 4)))
    robot.place(np.concatenate(([0, 0, height], [0, 0, 0, 1], TROT)), velocity)
    machine = machine_that_runs()
    run = Run(machine, robot)
    machine.sit_down("FL thigh at 61 degC")
    run.step()
    tilt = 0.0
    while machine.state is RobotState.SIT_DOWN:
        run.step()
        tilt = max(tilt, run.tilt)
        if robot.tick == 12:  # until now the motors obeyed the command from before the start
            run.torque = 0.0
    run.until(RobotState.OFF)
    assert tilt < 0.25 and run.tilt < 0.03 and robot.truth().trunk_contact
    assert run.torque < 25.0 and machine.cause == "FL thigh at 61 degC"


def machine_that_runs() -> StateMachine:
    machine, now = StateMachine(MotionOptions(damping_s=0.01, settle_s=0.01), A1), -100.0
    machine.request(Request.STAND_UP, "")
    q = A1.stand.copy()
    while machine.state is not RobotState.READY:
        sent = machine.step(now, q, np.zeros(12), None)
        q, now = (sent.q if sent.kp.any() else q), now + 0.005
    machine.request(Request.RUN, "")
    machine.step(now, TROT, np.zeros(12), None)
    return machine


@pytest.mark.parametrize("start", [SPRAWLED, TWISTED, A1.stand, TROT])
def test_targets_are_continuous_within_range_and_speed(start: np.ndarray) -> None:
    """Of a robot that follows: from the measured pose and torque, each way to its end."""
    torque = np.linspace(-15.0, 15.0, 12)
    for motion, speed, tau in (
        (MOTIONS.stand_up(start), O.joint_speed, None),
        (MOTIONS.give_up(start, 0.5), O.joint_speed, None),
        (MOTIONS.sit_down(start, torque), O.recover_speed, torque),
        (MOTIONS.recover(start, torque), O.recover_speed, torque),
    ):
        q, now, dt = start.copy(), 7.0, 4e-3
        while not motion.is_done:
            now += 60.0 if q is start else dt  # a loop that stalled does not let targets jump
            sent = motion.step(now, q)
            assert np.abs(sent.q - q).max() <= speed * dt + 1e-9
            assert np.abs(sent.dq).max() <= speed * (1.0 + 1e-9)
            assert (sent.q >= A1.legs.lower).all() and (sent.q <= A1.legs.upper).all()
            assert tau is None or np.abs(sent.tau - tau).max() < 0.4
            q, tau = sent.q, sent.tau
        np.testing.assert_allclose(q, motion.goal, atol=1e-12)


@pytest.mark.parametrize("joints", [A1.stand, TROT, SPRAWLED])
def test_the_weight_is_carried_by_virtual_work(joints: np.ndarray) -> None:
    """Joint power equals the rate at which the feet would lift the robot."""
    rate, h = np.linspace(-1.0, 1.0, 12), 1e-6
    ahead = foot_positions_in_base(A1.legs, joints + h * rate)[:, 2]
    behind = foot_positions_in_base(A1.legs, joints - h * rate)[:, 2]
    lift = -((ahead - behind) / (2 * h)).sum() * A1.mass * GRAVITY / 4.0
    assert weight_torque(A1, joints, 1.0) @ rate == pytest.approx(lift, rel=1e-6)
    np.testing.assert_allclose(weight_torque(A1, joints, 0.5), 0.5 * weight_torque(A1, joints, 1.0))


@pytest.mark.parametrize("joints", [None, SPRAWLED])
def test_it_rises_from_folded_or_sprawled_legs_and_lies_down_again(joints) -> None:
    run = lying(joints).until(RobotState.READY)
    assert_stands(run)
    run.machine.request(Request.END, "")
    run.until(RobotState.OFF)
    assert run.machine.ended_well and run.torque < 20.0 and run.speed < 2.0
    assert run.robot.truth().trunk_contact and run.tilt < 0.03  # nothing left to fall
