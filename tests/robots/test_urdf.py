"""The URDF describes the robot of the MJCF: same joints, same dynamics, same shapes."""

from xml.etree import ElementTree as Xml

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from robots.conventions import FOOT_NAMES, GRAVITY, JOINT_NAMES
from robots.mujoco_model import load_mujoco
from robots.pinocchio_model import foot_frame_ids
from robots.urdf import urdf_of
from tests.robots.every_robot import quadruped as quadruped


@pytest.fixture(scope="module")
def urdf(quadruped):
    return Xml.fromstring(urdf_of(quadruped))


@pytest.fixture(scope="module")
def urdf_model(quadruped):
    model = pin.buildModelFromXML(urdf_of(quadruped), pin.JointModelFreeFlyer())
    model.gravity = pin.Motion(np.array([0.0, 0.0, -GRAVITY]), np.zeros(3))
    return model


def _attributes(urdf, path):
    """Of the one element there; fails where there is none."""
    (element,) = urdf.findall(path)
    return element.attrib


def _order(urdf_model):
    """Where our joints stand in the reader's q (19) and v (18): it sorts them by name."""
    joints = [urdf_model.joints[urdf_model.getJointId(name)] for name in JOINT_NAMES]
    q = [*range(7), *(joint.idx_q for joint in joints)]
    return np.array(q), np.array([*range(6), *(joint.idx_v for joint in joints)])


def test_joints_stand_in_motor_order_with_their_limits(quadruped, urdf):
    hinges = urdf.findall("joint[@type='revolute']")
    assert tuple(joint.get("name") for joint in hinges) == JOINT_NAMES
    limits = [_attributes(joint, "limit") for joint in hinges]
    for key, expected in (
        ("lower", quadruped.legs.lower), ("upper", quadruped.legs.upper),
        ("effort", quadruped.torque_limit), ("velocity", quadruped.velocity_limit),
    ):  # fmt: skip
        values = [float(limit[key]) for limit in limits]
        assert_allclose(values, np.broadcast_to(expected, 12), rtol=1e-14)


def test_mass_matrix_gravity_and_feet_are_those_of_the_mjcf(model, urdf_model, random_state):
    data, urdf_data = model.createData(), urdf_model.createData()
    into_q, into_v = _order(urdf_model)
    armature = np.diag([0.0] * 6 + [0.01] * 12)  # of which URDF says nothing
    for _ in range(20):
        q, v, _ = random_state()
        urdf_q, urdf_v = np.empty(19), np.empty(18)
        urdf_q[into_q], urdf_v[into_v] = q, v
        ours = pin.crba(model, data, q) - armature
        theirs = pin.crba(urdf_model, urdf_data, urdf_q)[np.ix_(into_v, into_v)]
        assert_allclose(np.triu(theirs), np.triu(ours), atol=1e-9)
        bias = pin.nonLinearEffects(urdf_model, urdf_data, urdf_q, urdf_v)[into_v]
        assert_allclose(bias, pin.nonLinearEffects(model, data, q, v), atol=1e-9)
        gravity = pin.computeGeneralizedGravity(urdf_model, urdf_data, urdf_q)[into_v]
        expected = pin.computeGeneralizedGravity(model, data, q)
        assert_allclose(gravity, expected, atol=1e-9)
        pin.framesForwardKinematics(model, data, q)
        pin.framesForwardKinematics(urdf_model, urdf_data, urdf_q)
        for name, frame in zip(FOOT_NAMES, foot_frame_ids(model), strict=True):
            foot = urdf_data.oMf[urdf_model.getFrameId(f"{name}_foot", pin.FrameType.BODY)]
            assert_allclose(foot.homogeneous, data.oMf[frame].homogeneous, atol=1e-9)


def test_a_reader_of_urdf_puts_the_shapes_where_the_mjcf_has_them(quadruped, urdf):
    """MuJoCo reads both; the trunk is the URDF's root, which MuJoCo welds to the world."""
    theirs = mujoco.MjModel.from_xml_string(urdf_of(quadruped))
    ours = load_mujoco(quadruped)
    joints = np.random.default_rng(3).uniform(quadruped.legs.lower, quadruped.legs.upper)
    data, their_data = mujoco.MjData(ours), mujoco.MjData(theirs)
    data.qpos[:7] = 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0
    data.qpos[7:] = joints
    for name, angle in zip(JOINT_NAMES, joints, strict=True):
        their_data.joint(name).qpos[0] = angle
    mujoco.mj_kinematics(ours, data)
    mujoco.mj_kinematics(theirs, their_data)
    shapes = [shape.get("name") for shape in urdf.iter("collision")]
    for name in shapes:
        index = theirs.geom(name).id
        assert_allclose(their_data.geom_xpos[index], data.geom(name).xpos, atol=1e-9)
        size = theirs.geom_size[index]
        assert_allclose(size, ours.geom(name).size, atol=1e-12, err_msg=name)
