"""A robot is a folder: what is read from the A1's, and from one with a foreign MJCF."""

from xml.etree import ElementTree as Xml

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import approx

from robots.legs import foot_positions_in_base
from robots.mujoco_model import load_mujoco
from robots.robot import load_robot
from robots.robot_file import RobotError
from robots.urdf import urdf_of
from saltus.common.errors import BadRequest
from saltus.configuration.launch import load_launch
from saltus.robot_check import check_robot
from tests.a1 import A1
from tests.refusals import refusal
from tests.tables import table

FILE = "velocity_limit: 21\nstand: [0, 0.8, -1.6]\nlie: [0, 1.3, -2.6]\nmodel: model.xml\n"
OURS = ("FR", "FL", "RR", "RL")


def robot_in(folder, model, file=FILE):
    """Write a folder and load it."""
    folder.mkdir(exist_ok=True)
    (folder / "model.xml").write_text(model)
    (folder / "robot.yaml").write_text(file)
    return load_robot(str(folder))


def foreign():
    """The A1 with its legs in another order and under other names, its hips turning about -x."""
    root = Xml.fromstring(A1.mjcf)
    trunk = root.find(".//body[@name='trunk']")
    legs = [trunk.find(f"body[@name='{foot}_hip']") for foot in OURS]
    for leg in legs:
        trunk.remove(leg)
    trunk.extend([legs[1], legs[3], legs[0], legs[2]])
    motors = root.find("actuator")
    motors[:] = list(motors)[::-1]
    for hip in root.iter("joint"):
        if hip.get("class") == "hip":
            hip.set("axis", "-1 0 0")
    text = Xml.tostring(root, encoding="unicode")
    for ours, theirs in zip(OURS, ("leg_d", "leg_a", "leg_c", "leg_b"), strict=True):
        text = text.replace(f'"{ours}_', f'"{theirs}_')
    return text.replace('name="trunk"', 'name="base"').replace('name="root"', 'name="free"')


def test_a_foreign_model_of_the_same_robot_is_the_same_robot(tmp_path):
    robot = robot_in(tmp_path, foreign())
    for ours, theirs in zip(A1.legs, robot.legs, strict=True):
        assert_allclose(theirs, ours, atol=1e-12)
    assert robot.mass == approx(A1.mass) and robot.stand_height == A1.stand_height
    assert (robot.torque_limit == A1.torque_limit).all()
    here, there = (load_mujoco(each) for each in (A1, robot))
    q = np.random.default_rng(0).uniform(A1.legs.lower, A1.legs.upper)
    matrices = []
    for model in (here, there):
        data = mujoco.MjData(model)
        data.qpos[:7], data.qpos[7:] = (0, 0, 1, 1, 0, 0, 0), q
        mujoco.mj_forward(model, data)
        matrix = np.empty((18, 18))
        mujoco.mj_fullM(model, data, matrix)
        matrices.append(matrix)
    assert_allclose(*matrices, atol=1e-9)


@pytest.mark.parametrize("old, new, says", table("""
    <freejoint name="root"/> => <!-- --> => free joint
    <joint name="FR_calf_joint" class="calf"/> => <joint type="slide" name="FR_calf_joint"/> \
        => 4 legs of 3
    class="hip"><joint axis="1 0 0" => class="hip"><joint axis="0 0 1" => turns about x
    <geom name="FR_foot" class="foot"/> => <!-- --> => has no foot
    <mujoco => <robot => XML
    <asset> => <asset><mesh file="none.stl"/> => none.stl
    type="sphere" size="0.02" => type="capsule" size="0.02 0.02" => has no foot
    class="foot"/> \
        => class="foot"/><geom type="capsule" size="0.01" fromto="0 0 0 0 0 -0.1"/> \
        => reaches below its lowest sphere
    armature="0.01" => armature="0.01" stiffness="5" => has springs
    <sensor> \
        => <tendon><fixed><joint joint="FR_calf_joint" coef="1"/></fixed></tendon><sensor> \
        => has tendons
    <sensor> \
        => <equality><joint joint1="FR_calf_joint" joint2="RR_calf_joint"/></equality><sensor> \
        => has equality
    <body name="imu" pos="0 0 0"> => <body name="imu"><joint type="slide"/> => no other joint
    <worldbody> => <worldbody><body><freejoint/><geom size="1" density="1"/></body> => 2 free
    _calf" pos="0 0 -0.2"> => _calf" pos="0 0 0.2"> => straight down
"""))  # fmt: skip
def test_a_model_that_is_no_quadruped_is_refused_in_one_line(tmp_path, old, new, says):
    text = A1.mjcf.replace(old, new)
    assert text != A1.mjcf
    text = text.replace("FL_hip_joint", "left_joint")  # not ours as it is
    assert says in refusal(RobotError, robot_in, tmp_path, text)


@pytest.mark.parametrize("file, says", [("", "robot.yaml"), (FILE, "cannot be read")])
def test_a_folder_that_holds_nothing_is_refused_by_its_file(tmp_path, file, says):
    (tmp_path / "robot.yaml").write_text(file)
    assert says in refusal(RobotError, load_robot, str(tmp_path))


@pytest.mark.parametrize("line, says", table("""
    stand: [0, 8, -1.6] => thigh_joint at 8 rad is outside its range
    stand: [0, 0.8] => 2 numbers
    velocity_limit: -1 => above 0
    stand: [0, .nan, -1.6] => finite
    corner_speed: 0 => above 0
    corner_speed: 21 => less than velocity_limit
    body: [[0, 0, .nan], [1, 1, 1]] => opposite corners
    legs: 5 => legs
    a: [ => robot.yaml
"""))  # fmt: skip
def test_a_file_that_says_nonsense_is_refused_by_its_key(tmp_path, line, says):
    others = [each for each in FILE.splitlines() if each.split(":")[0] != line.split(":")[0]]
    assert says in refusal(RobotError, robot_in, tmp_path, A1.mjcf, "\n".join([*others, line]))


@pytest.mark.parametrize("old, new, limit", table("""
    gear="1" => gear="-3" => 100.5
    ctrlrange="-33.5 33.5" => ctrlrange="-7 5" => 5
    <joint armature => <joint actuatorfrcrange="-9 12" armature => 9
    <motor name="FR_hip" => <position kp="50" ctrlrange="-1 1" name="FR_hip" => 50
"""))  # fmt: skip
def test_the_torque_limit_is_at_the_joint_and_of_both_signs(tmp_path, old, new, limit):
    model = A1.mjcf.replace(old, new)
    if "position" in new:  # whose control is an angle
        model = model.replace(
            'joint="FR_hip_joint"/>', 'joint="FR_hip_joint" forcerange="-50 60"/>'
        )
    assert robot_in(tmp_path, model).torque_limit[0] == float(limit)


def test_a_torque_limit_of_the_file_is_the_models(tmp_path):
    robot = robot_in(tmp_path, A1.mjcf, FILE + "torque_limit: [40, 50, 60]\n")
    model = robot.spec().compile()
    assert (robot.torque_limit[:3] == [40, 50, 60]).all()
    assert (model.actuator_forcerange[:, 1] == robot.torque_limit).all()
    assert (model.actuator_ctrlrange[:, 1] == robot.torque_limit).all()
    assert 'effort="60"' in urdf_of(robot)


def test_angle_zero_is_where_the_leg_is_straight(tmp_path):
    model = A1.mjcf.replace('class="calf"/>', 'class="calf" ref="0.1"/>')
    robot = robot_in(tmp_path, model)
    assert_allclose(robot.legs.upper[2::3], A1.legs.upper[2::3] - 0.1)


def test_a_deviation_that_is_let_pass_is_taken_out_of_the_model(tmp_path):
    model = A1.mjcf.replace('_thigh" pos="0 -0.0838 0">', '_thigh" pos="0 -0.0838 0.0009">')
    robot = robot_in(tmp_path, model.replace('_calf" pos="0 0 -0.2">', '_calf" pos="9e-4 0 -0.2">'))
    data = mujoco.MjData(compiled := robot.spec().compile())
    data.qpos[:7], data.qpos[7:] = (0, 0, 0, 1, 0, 0, 0), robot.stand
    mujoco.mj_kinematics(compiled, data)
    seen = [data.geom(f"{foot}_foot").xpos for foot in OURS]
    assert_allclose(foot_positions_in_base(robot.legs, robot.stand), seen, atol=1e-12)


@pytest.mark.parametrize("defaults, says", table("""
    {hilqrr: 1} => unknown key 'hilqrr'
    {duration: long} => at duration
    {perturbations: 7} => at perturbations
    {connection: real} => connection is for the launch
    {robot: a1} => robot is for the launch
    [1] => defaults
"""))  # fmt: skip
def test_defaults_are_blamed_on_the_robots_file(tmp_path, defaults, says):
    (tmp_path / "robot.yaml").write_text(FILE + f"defaults: {defaults}\n")
    line = refusal(BadRequest, load_launch, "stand", [f"robot={tmp_path}"])
    assert says in line and "robot.yaml" in line


@pytest.mark.parametrize("name", ["a1", "go1", "go2"])
def test_the_robots_of_this_project_pass_their_check(name):
    assert [each for each in check_robot(name) if not each.ok] == []


def test_losses_of_joints_that_plans_leave_out_are_named(tmp_path):
    root = Xml.fromstring(A1.mjcf)
    for hinge in root.iter("joint"):
        hinge.set("damping", "2")
    robot_in(tmp_path, Xml.tostring(root, encoding="unicode"))
    (losses,) = [each for each in check_robot(str(tmp_path)) if each.check == "losses"]
    assert losses.ok and "damping up to 2 N m s/rad" in losses.found
