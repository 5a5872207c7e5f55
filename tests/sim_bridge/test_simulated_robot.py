"""The simulated robot: its quiet start, its motors, its fall and its repeatability."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx

from robots.conventions import GRAVITY
from sim_bridge.options import SensorOptions, SimulationOptions
from sim_bridge.perturbation_script import PerturbationScript
from sim_bridge.perturbations import BaseVelocity, MotorBlock
from sim_bridge.simulated_robot import SimulatedRobot
from tests.a1 import A1, stand_command

PERFECT = SimulationOptions(sensors=SensorOptions(noise=0))


def pd_command(tick, kp=80.0, kd=2.0, tau=0.0):
    kp, kd, tau = (np.full(12, each) for each in (kp, kd, tau))
    return stand_command(tick, 0.001 * tick, kp=kp, kd=kd, tau=tau)


@pytest.mark.parametrize("options", [PERFECT, SimulationOptions(payload_mass=3.0, timestep=0.001)])
def test_the_start_is_quiet_and_on_all_feet(options):
    robot = SimulatedRobot(A1, options)
    truth = robot.truth()
    assert (truth.tick, truth.time, robot.fell) == (0, 0.0, False)
    assert_array_equal(truth.v, 0.0)
    assert_array_equal(truth.q[:2], 0.0)
    assert_allclose(truth.q[7:], A1.stand, atol=2e-3)
    assert_array_equal(truth.contact, 1.0)
    for _ in range(50):
        robot.advance(None)
        assert np.abs(robot.truth().v).max() < 1e-3


@pytest.mark.parametrize("slope", [0.0, 0.2])
def test_the_floor_carries_the_weight(slope):
    options = SimulationOptions(floor_slope=slope, payload_mass=2.0, mass_scale=1.1)
    robot = SimulatedRobot(A1, options)
    for _ in range(200):
        robot.advance(None)
    weight = (1.1 * A1.mass + 2.0) * GRAVITY
    force = robot.truth().foot_force.sum(axis=0)
    assert_allclose(force, [0.0, 0.0, weight], atol=0.02 * weight)


def test_friction_decides_whether_the_robot_slides_down_a_slope():
    def slid(friction):
        robot = SimulatedRobot(A1, SimulationOptions(floor_slope=0.2, friction=friction))
        start = robot.data.geom("FR_foot").xpos[0]
        for _ in range(300):
            robot.advance(None)
        return start - robot.data.geom("FR_foot").xpos[0]

    assert abs(slid(0.8)) < 0.001
    # a = g (sin - mu cos) from rest, and it was let go with the start
    expected = 0.5 * GRAVITY * (np.sin(0.2) - 0.05 * np.cos(0.2)) * 0.3**2
    assert slid(0.05) == approx(expected, rel=0.15)


def test_accelerometer_reads_gravity_at_rest_and_nothing_in_free_fall():
    robot = SimulatedRobot(A1, PERFECT, PerturbationScript((MotorBlock(0.05, 1.0),)))
    for _ in range(20):
        robot.advance(None)
    assert_allclose(robot.reading().linear_acceleration_imu, [0, 0, 9.81], atol=0.02)
    q = robot.truth().q
    q[2] += 1.0
    for _ in range(30):  # until the motors are blocked, then let go
        robot.advance(None)
    robot.place(q, np.zeros(18))
    robot.advance(None)
    assert_allclose(robot.reading().linear_acceleration_imu, 0.0, atol=1e-9)
    assert_array_equal(robot.reading().foot_force, 0.0)


def test_a_command_acts_exactly_the_delay_later():
    options = SimulationOptions(input_delay=0.010, sensors=SensorOptions(noise=0))
    robot = SimulatedRobot(A1, options)
    acts = []
    for tick in range(20):
        robot.advance(pd_command(tick, kp=0.0, kd=0.0, tau=0.5) if tick == 4 else None)
        acts.append(np.array_equal(robot.reading().joint_torque, np.full(12, 0.5)))
    assert acts == [False] * 14 + [True] * 6


def test_torque_is_the_pd_law_of_the_state_at_the_step():
    options = SimulationOptions(timestep=0.001, sensors=SensorOptions(noise=0))
    robot = SimulatedRobot(A1, options)
    for tick in range(30):
        truth = robot.truth()
        robot.advance(pd_command(tick, kp=30.0, kd=1.0, tau=0.2))
        expected = 0.2 + 30.0 * (A1.stand - truth.q[7:]) - truth.v[6:]
        assert_allclose(robot.reading().joint_torque, expected, atol=1e-12)


def test_equal_runs_are_equal_to_the_bit_and_seeds_matter():
    def run(seed, ask=False):
        script = PerturbationScript((BaseVelocity(0.05, (0.3, 0.8, 0.0)),))
        robot = SimulatedRobot(A1, SimulationOptions(seed=seed), script)
        for tick in range(300):
            if ask:
                robot.reading()
            robot.advance(pd_command(tick))
        reading, truth = robot.reading(), robot.truth()
        return reading.joint_velocity.tobytes(), truth.q.tobytes() + truth.v.tobytes()

    assert run(3) == run(3, ask=True)
    assert run(3)[0] != run(4)[0]
    assert run(3)[1] == run(4)[1]  # noise is in the readings, not in the physics


def test_falls_when_the_trunk_touches_and_stays_fallen():
    robot = SimulatedRobot(A1, PERFECT, PerturbationScript((MotorBlock(0.0, 10.0),)))
    q, v = robot.truth().q, robot.truth().v
    while not robot.fell and robot.tick < 2000:
        robot.advance(None)
    assert robot.fell
    assert robot.truth().trunk_contact
    robot.place(q, v)
    robot.advance(None)
    assert not robot.truth().trunk_contact
    assert robot.fell


def test_a_robot_that_diverges_leaves_no_log_file(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    robot = SimulatedRobot(A1)
    robot.place(robot.truth().q, np.full(18, 1e30))
    robot.advance()
    assert robot.fell and "WARNING" in "".join(capfd.readouterr())
    assert list(tmp_path.iterdir()) == []


def test_a_command_of_nonsense_cannot_break_the_loop():
    robot = SimulatedRobot(A1)
    for tick in range(100):
        robot.advance(pd_command(tick, kp=np.nan, tau=np.inf))
    assert np.isfinite(robot.truth().q).all()


@pytest.mark.parametrize("degrees, time_lost, fallen", [
    (55.0, 0.0, False), (65.0, 0.0, True), (180.0, 0.0, True), (180.0, 0.5, False),
])  # fmt: skip
def test_falls_past_sixty_degrees_unless_the_controllers_time_allows_a_tilt(
    degrees, time_lost, fallen
):
    robot = SimulatedRobot(A1, PERFECT)
    robot.tilt_allowance = lambda time: np.pi if time >= 0.5 else 0.0
    robot.time_lost = time_lost
    q, half = robot.truth().q, 0.5 * np.radians(degrees)
    q[2], q[3:7] = 2.0, (np.sin(half), 0.0, 0.0, np.cos(half))
    robot.place(q, np.zeros(18))
    assert robot.fell is fallen
