"""Patches of other softness: how deep feet sink, and that the rest of the ground stays as it is."""

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx

from robots.conventions import FOOT_NAMES
from robots.terrain import Patch, make_ground
from sim_bridge.options import SimulationOptions
from sim_bridge.physics.mujoco_physics import MujocoPhysics
from tests.a1 import A1

UP = np.array([0.0, 0.0, 1.0])
OPTIONS = SimulationOptions()


def patch(x=-5.0, stiffness=None):
    """Ground that is a patch from x on [m]."""
    return make_ground(patches=(Patch((x, -5.0), (9.0, 5.0), None, stiffness),))


def stand_for(seconds, ground):
    physics = MujocoPhysics(A1, OPTIONS, ground)
    command = physics.start("stand", UP)
    physics.live(np.array([command] * round(seconds / OPTIONS.timestep)), False)
    return physics


def foot_contacts(physics):
    """Depth of the feet [m] and the normal forces on them [N], in MuJoCo's order."""
    model, data = physics.model, physics.data
    feet, force = {model.geom(f"{name}_foot").id for name in FOOT_NAMES}, np.empty(6)
    assert {int(pair[1]) for pair in data.contact.geom} == feet
    forces = []
    for i in range(data.ncon):
        mujoco.mj_contactForce(model, data, i, force)
        forces.append(force[0])
    return -data.contact.dist.copy(), np.array(forces)


@pytest.mark.parametrize("stiffness", [2000.0, 5000.0, 20_000.0])
def test_feet_sink_in_by_the_weight_over_the_stiffness(stiffness):
    """Up to what damper and inertia still carry: S r = f - C v - m a with m = 1 / A."""
    physics = stand_for(4.0, patch(stiffness=stiffness))
    model, data = physics.model, physics.data
    mujoco.mj_forward(model, data)
    mujoco.mj_rnePostConstraint(model, data)
    depths, forces = foot_contacts(physics)
    mass, geom = model.body_mass.sum(), mujoco.mjtObj.mjOBJ_GEOM
    damping = 2.0 * np.sqrt(stiffness * mass / 4.0)
    bound, moving = 0.0, np.empty(6)
    for name in FOOT_NAMES:
        foot = model.geom(f"{name}_foot").id
        mujoco.mj_objectVelocity(model, data, geom, foot, moving, 0)
        speed = np.linalg.norm(moving[3:])
        mujoco.mj_objectAcceleration(model, data, geom, foot, moving, 0)
        acceleration = np.linalg.norm(moving[3:] + model.opt.gravity)  # its zero is a free fall
        A = model.body_invweight0[model.geom_bodyid[foot], 0]
        bound = max(bound, damping * speed + acceleration / A)
    assert bound < 0.03 * forces.min()  # not at rest yet
    assert_allclose(stiffness * depths, forces, atol=1.1 * bound + 1e-6)
    weight = mass * -model.opt.gravity[2]
    assert depths.mean() == approx(weight / (4.0 * stiffness), rel=0.03)


def test_only_the_feet_on_the_patch_sink_in_until_they_leave_it():
    """The front feet stand on it; then the robot is behind it."""
    physics = stand_for(1.0, patch(x=0.0, stiffness=3000.0))
    depths, _ = foot_contacts(physics)
    front = physics.data.geom_xpos[physics.data.contact.geom[:, 1], 0] > 0.0
    assert front.sum() == 2 and depths[front].min() > 4.0 * depths[~front].max()
    physics.place(physics.motion.q - np.eye(19)[0], physics.motion.v)
    physics.live(np.zeros((1, 5, 12)), False)
    plain = MujocoPhysics(A1, OPTIONS).model
    assert_array_equal(physics.model.geom_solref, plain.geom_solref)
    assert_array_equal(physics.model.geom_solimp, plain.geom_solimp)
