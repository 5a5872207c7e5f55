"""Contacts: the law is the one that MuJoCo's solver used; `test_soft_step.py` has its slope."""

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots.conventions import FOOT_NAMES
from robots.mujoco_model import load_mujoco
from robots.soft_contact import contact_force, impedance, soft_contact_of
from robots.state import integrate, mujoco_from_pinocchio
from tests.a1 import A1

SIGMOIDS = {  # d_0, d_width, width, midpoint, power
    "as it is": (0.9, 0.95, 0.001, 0.5, 2.0),
    "straight": (0.8, 0.96, 0.004, 0.5, 1.0),
    "early": (0.7, 0.95, 0.004, 0.3, 3.0),
}


def make_model(sigmoid):
    model = load_mujoco(A1, 0.005, body_collisions=False)
    model.opt.tolerance, model.opt.iterations = 0.0, 200
    model.geom_solimp[:] = model.jnt_solimp[:] = SIGMOIDS[sigmoid]
    return model


def solved(model, seed):
    """MuJoCo's solution with feet in the ground and two joints beyond their limits."""
    rng, data = np.random.default_rng(seed), mujoco.MjData(model)
    q = np.concatenate([[0.0, 0.0, A1.stand_height - 0.004 * rng.random(), 0.0, 0, 0, 1], A1.stand])
    scale = np.repeat([1e-3, 1e-2, 1e-2, 0.3, 0.3, 1.0], [3, 3, 12, 3, 3, 12])
    q, v = integrate(q, np.zeros(18), scale * rng.normal(size=36))
    if seed % 3 == 1:
        v[:2] += 0.8  # it slides
    q[7 + rng.permutation([0, 3, 6, 9])[:2]] = A1.legs.upper[0] + 0.003 * rng.random(2)
    q[2] -= lowest(model, data, q, v) + 0.003 * rng.random()
    data.qpos[:], data.qvel[:] = mujoco_from_pinocchio(q, v)
    data.ctrl[:] = 5.0 * rng.normal(size=12)
    mujoco.mj_forward(model, data)
    return data


def lowest(model, data, q, v):
    """Height of the second lowest foot's sphere above the ground."""
    data.qpos[:], data.qvel[:] = mujoco_from_pinocchio(q, v)
    mujoco.mj_kinematics(model, data)
    heights = [data.geom(f"{name}_foot").xpos[2] for name in FOOT_NAMES]
    return np.sort(heights)[1] - model.geom("FR_foot").size[0]


def contact_rows(model, data):
    """Of each contact: the foot, its number, its distance, and the first row it has."""
    feet = [model.geom(f"{name}_foot").id for name in FOOT_NAMES]
    for number in range(data.ncon):
        contact = data.contact[number]
        yield feet.index(contact.geom[1]), number, contact.dist, contact.efc_address


def jacobian(model, data, number):
    """Of the point of contact along the contact's frame (3, 18)."""
    contact, J = data.contact[number], np.empty((3, 18))
    body = int(model.geom_bodyid[contact.geom[1]])
    mujoco.mj_jac(model, data, J, None, contact.pos, body)
    return contact.frame.reshape(3, 3) @ J


@pytest.mark.parametrize("sigmoid", SIGMOIDS)
def test_at_mujocos_solution_the_law_gives_mujocos_forces(sigmoid):
    model = make_model(sigmoid)
    law = soft_contact_of(A1, model)
    for seed in range(12):
        data = solved(model, seed)
        for foot, number, distance, _ in contact_rows(model, data):
            imp, _ = impedance(distance, law.impedance)
            r = jacobian(model, data, number) @ (data.qacc + law.damping * data.qvel)
            r[0] += law.stiffness * imp * distance
            expected = np.empty(6)
            mujoco.mj_contactForce(model, data, number, expected)
            force = np.empty(3)
            contact_force(law, foot, imp / (1.0 - imp), r, force, np.empty((3, 3)))
            assert_allclose(force, expected[:3], rtol=1e-8, atol=1e-7)


def without_floor(spec):
    spec.delete(spec.geom("floor"))


def floor_below(spec):
    spec.geom("floor").pos = [0.0, 0.0, -0.1]


def elliptic(spec):
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC


@pytest.mark.parametrize("change", [1, 4, 6, without_floor, floor_below, elliptic])
def test_other_friction_than_sliding_and_no_plane_in_reach_are_refused(change):
    spec = A1.spec()
    if callable(change):
        change(spec)
    model = spec.compile()
    if not callable(change):
        model.geom_condim[:] = change
    with pytest.raises(ValueError, match="four feet"):
        soft_contact_of(A1, model)
