"""Feed-forward torques of the driven reference beside quadratic programming and the whole law."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from controller.driving.window import FRICTION, feed_forward, share_wrench
from robots.conventions import GRAVITY
from robots.kinematic_tree import tree_of
from robots.legs import foot_jacobians_in_base, foot_positions_in_base
from robots.mujoco_model import load_mujoco
from robots.pinocchio_model import load_pinocchio
from tests.a1 import A1

TREE, MODEL = tree_of(load_mujoco(A1)), load_pinocchio(A1)


def torque(joints, v, a, standing):
    out = np.empty(12)
    feet = foot_positions_in_base(A1.legs, joints)
    jacobians, up = foot_jacobians_in_base(A1.legs, joints), (0.0, 0.0, GRAVITY)
    feed_forward(TREE, joints, v, a, up, feet, jacobians, standing, A1.torque_limit, out)
    return out


@pytest.mark.parametrize("seed", range(10))
def test_in_the_air_it_is_pinocchios_inverse_dynamics(seed):
    rng = np.random.default_rng(seed)
    joints = A1.stand + 0.3 * rng.normal(size=12)
    v, a = 0.5 * rng.normal(size=18), 3.0 * rng.normal(size=18)
    q = np.concatenate(([0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0], joints))
    data = MODEL.createData()
    armature = np.concatenate((np.zeros(6), TREE.armature))
    missing = np.where(MODEL.armature > 0.0, 0.0, armature)  # of those that Pinocchio knows not of
    expected = (pin.rnea(MODEL, data, q, v, a) + missing * a)[6:]
    found = torque(joints, v, a, np.zeros(4))
    assert_allclose(found, np.clip(expected, -33.5, 33.5), atol=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_forces_push_inside_the_pyramid_and_give_the_wrench_where_they_can(seed):
    rng = np.random.default_rng(seed)
    feet = foot_positions_in_base(A1.legs, A1.stand + 0.1 * rng.normal(size=12))
    standing = (rng.random(4) < 0.8).astype(float)
    wrench = np.array([10.0, 10.0, 120.0, 2.0, 2.0, 2.0]) * np.append(rng.normal(size=2), [1.0] * 4)
    forces = np.empty((4, 3))
    share_wrench(wrench, feet, standing, forces)
    assert not forces[standing < 0.5].any() and (forces[:, 2] >= 0.0).all()
    assert (np.abs(forces[:, :2]) <= FRICTION * forces[:, 2:] + 1e-12).all()
    free = (forces[standing > 0.5, 2] > 0.0).all()
    inside = (np.abs(forces[:, :2]) < FRICTION * forces[:, 2:] - 1e-9)[standing > 0.5].all()
    if free and inside and standing.sum() >= 3:
        moment = np.cross(feet, forces).sum(axis=0)
        assert_allclose(np.append(forces.sum(axis=0), moment), wrench, atol=1e-3)
