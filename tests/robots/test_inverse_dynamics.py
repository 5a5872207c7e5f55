"""Inverse dynamics of a tree and its derivatives are Pinocchio's, whatever the robot weighs."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from robots.conventions import GRAVITY
from robots.inverse_dynamics import differentiate_inverse_dynamics, forces_of, motions_of
from robots.kinematic_tree import joint_frames, tree_of
from robots.mujoco_model import load_mujoco
from robots.pinocchio_model import load_pinocchio
from tests.a1 import A1
from tests.robots.every_robot import quadruped as quadruped

STATES = 20


def ours(tree, q, v, a):
    """M, d(Ma + h)/dq and d(Ma + h)/dv."""
    R = Rotation.from_quat(q[3:7]).as_matrix()
    out = tuple(np.full((18, 18), np.nan) for _ in range(3))
    frames = joint_frames(tree, q[7:])
    differentiate_inverse_dynamics(tree, frames, tuple(GRAVITY * R[2]), v, a, *out)
    return out


def theirs(model, q, v, a):
    """The same by Pinocchio."""
    data = model.createData()
    by_q, by_v, M = (part.copy() for part in pin.computeRNEADerivatives(model, data, q, v, a))
    return np.triu(M) + np.triu(M, 1).T, by_q, by_v


def assert_same(tree, model, q, v, a):
    for mine, other in zip(ours(tree, q, v, a), theirs(model, q, v, a), strict=True):
        assert_allclose(mine, other, atol=1e-12 * np.abs(other).max())


def states(random_state, count=STATES):
    for _ in range(count):
        q, v, tau = random_state()
        yield q, v, np.concatenate([v[:6], tau]) * 3.0


@pytest.fixture(scope="module")
def tree(quadruped):
    return tree_of(load_mujoco(quadruped))


def test_mass_matrix_and_both_derivatives_are_pinocchios(tree, model, random_state):
    for q, v, a in states(random_state):
        assert_same(tree, model, q, v, a)


def test_forces_are_pinocchios(tree, model, random_state):
    """On the whole robot, and on each leg from a joint outwards, along its axis."""
    data = model.createData()
    for q, v, a in states(random_state):
        R, frames = Rotation.from_quat(q[3:7]).as_matrix(), joint_frames(tree, q[7:])
        motions = motions_of(tree, frames, tuple(GRAVITY * R[2]), v, a)
        force = forces_of(tree, frames, motions)
        torque = np.sum(motions.S * force[1:], axis=1) + tree.armature * a[6:]
        mine = np.concatenate([force[0], torque])
        other = pin.rnea(model, data, q, v, a)
        assert_allclose(mine, other, atol=1e-12 * np.abs(other).max())


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_robot_of_other_masses_has_pinocchios_derivatives_too(quadruped, random_state, seed):
    rng, changed = np.random.default_rng(seed), load_mujoco(quadruped)
    model = load_pinocchio(quadruped)
    for joint in range(1, model.njoints):
        body = int(changed.joint(model.names[joint]).bodyid[0])
        mass, centre = rng.uniform(0.1, 8.0), rng.uniform(-0.1, 0.1, 3)
        turn, principal = Rotation.random(random_state=rng), rng.uniform(0.01, 0.015, 3)
        changed.body_mass[body], changed.body_ipos[body] = mass, centre
        changed.body_iquat[body] = turn.as_quat()[[3, 0, 1, 2]]
        changed.body_inertia[body] = principal
        R = turn.as_matrix()
        model.inertias[joint] = pin.Inertia(mass, centre, R @ np.diag(principal) @ R.T)
    changed.dof_armature[6:] = model.armature[6:] = rng.uniform(0.0, 0.1, 12)
    tree = tree_of(changed)
    for q, v, a in states(random_state, 10):
        assert_same(tree, model, q, v, a)


@pytest.mark.parametrize(
    "change", [{"type": mujoco.mjtJoint.mjJNT_SLIDE}, {"pos": [0.0, 0.01, 0.0]}]
)
def test_a_slide_and_a_hinge_beside_its_bodys_origin_are_refused(change):
    spec = A1.spec()
    ((name, value),) = change.items()
    setattr(spec.joint("FL_thigh_joint"), name, value)
    with pytest.raises(ValueError):
        tree_of(spec.compile())
