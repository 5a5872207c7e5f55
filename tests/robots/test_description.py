import mujoco
import numpy as np
import pinocchio as pin
import pytest
from pytest import approx

from robots.conventions import GRAVITY, JOINT_NAMES
from robots.mujoco_model import load_mujoco
from tests.robots.every_robot import quadruped as quadruped

# Masses [kg] of trunk with IMU or head, hip, thigh, calf, foot, and of the whole robot, in the
# URDFs that the models name; those of Go1 and Go2 less 12 rotors of 0.089 kg, and the Go1's less 8
# sensors of 1e-5 kg. MuJoCo and Pinocchio melt the foot into the calf.
MASSES = {
    "a1": (6.001, 0.696, 1.013, 0.166, 0.06, 13.741),
    "go1": (5.205, 0.591, 0.92, 0.135862, 0.06, 13.100528 - 12 * 0.089 - 8e-5),
    "go2": (6.923, 0.678, 1.152, 0.154, 0.04, 16.087 - 12 * 0.089),
}


@pytest.fixture(scope="module")
def mj_model(quadruped):
    return load_mujoco(quadruped)


def test_both_readers_see_the_same_joints_in_motor_order(model, mj_model):
    assert tuple(model.names)[2:] == JOINT_NAMES
    assert tuple(mj_model.joint(i).name for i in range(1, 13)) == JOINT_NAMES
    assert [mj_model.actuator_trnid[i, 0] for i in range(12)] == list(range(1, 13))
    assert (model.nq, model.nv) == (mj_model.nq, mj_model.nv) == (19, 18)


def test_masses_are_the_published_ones(quadruped, model, mj_model):
    trunk, hip, thigh, calf, foot, total = MASSES[quadruped.name]
    published = [trunk] + [hip, thigh, calf + foot] * 4
    assert mj_model.body_mass[1:] == approx(published, rel=1e-14)
    assert [inertia.mass for inertia in list(model.inertias)[1:]] == approx(published)
    assert total == approx(quadruped.mass, abs=1e-9)
    assert pin.computeTotalMass(model) == approx(quadruped.mass, abs=1e-9)


def test_parts_touch_the_floor_and_never_each_other(quadruped):
    mj_model = load_mujoco(quadruped)
    floor = mj_model.geom("floor").id
    con = [(mj_model.geom_contype[i], mj_model.geom_conaffinity[i]) for i in range(mj_model.ngeom)]
    for i in range(mj_model.ngeom):
        for j in range(i):
            collide = con[i][0] & con[j][1] or con[j][0] & con[i][1]
            group = mj_model.geom_group[i if j == floor else j]
            assert bool(collide) == (floor in (i, j) and group in (1, 3))


def test_standing_robot_carries_its_weight_on_touch_sensors(quadruped, mj_model):
    data = mujoco.MjData(mj_model)
    data.qpos[2], data.qpos[3], data.qpos[7:] = quadruped.stand_height, 1.0, quadruped.stand
    for _ in range(3000):
        data.ctrl[:] = 60.0 * (quadruped.stand - data.qpos[7:]) - 2.0 * data.qvel[6:]
        mujoco.mj_step(mj_model, data)
    weight = quadruped.mass * GRAVITY
    assert data.sensordata.sum() == approx(weight, rel=5e-3)
    assert np.abs(data.qvel).max() < 0.02
