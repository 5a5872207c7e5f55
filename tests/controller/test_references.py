"""Kinematic references hold their contacts, balance their weight, and repeat; files read back."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx

from controller.gaits import BOUND, TROT, WALK
from controller.references import make_reference
from controller.references.kinematic import KinematicGait, make_kinematic_reference
from robots.contact_dynamics import ContactDynamics
from robots.pinocchio_model import foot_frame_ids, load_pinocchio
from robots.state import difference
from tests.a1 import A1, feet_in_world
from tests.refusals import refusal

PERIOD = 0.01
MODEL = load_pinocchio(A1)
FEET = foot_frame_ids(MODEL)


@pytest.fixture(scope="module", params=[WALK, TROT, BOUND])
def reference(request):
    return make_kinematic_reference(A1, request.param, 0.2, PERIOD)


def test_stance_feet_stand_still_on_the_ground(reference):
    window = reference.window(0, 250)
    feet = np.array([feet_in_world(q) for q in window.q])
    for k in range(250):
        both = (window.contacts[k] > 0) & (window.contacts[k + 1] > 0)
        assert_allclose(feet[k + 1][both], feet[k][both], atol=1e-9)
        assert_allclose(feet[k][window.contacts[k] > 0, 2], A1.legs.foot_radius, atol=1e-9)
    assert feet[:, :, 2].max() == approx(A1.legs.foot_radius + 0.06, abs=1e-3)


@pytest.mark.parametrize("gait", [WALK, TROT, BOUND])
def test_velocity_is_the_derivative_of_the_configuration(gait):
    motion = KinematicGait(A1, gait, 0.2)
    window = make_kinematic_reference(A1, gait, 0.2, PERIOD).window(120, 60)
    h = 1e-4
    for k in range(60):
        time = (120 + k) * PERIOD
        before, after = motion.configuration(time - h), motion.configuration(time + h)
        slope = pin.difference(MODEL, before, after) / (2 * h)
        assert_allclose(window.v[k], slope, atol=0.02)


def test_feed_forward_carries_the_robot(reference):
    """Over a stride, sticking feet with the reference's torque carry just the robot's weight."""
    dynamics = ContactDynamics(MODEL, FEET)
    window = reference.window(200, reference.loop)
    forces, vertical = [], []
    for k in range(reference.loop):
        a, force = dynamics.acceleration(
            window.q[k], window.v[k], window.inputs[k], window.contacts[k]
        )
        forces.append(force)
        vertical.append(a[2])
    weight = 13.741 * 9.81
    # One pair of feet alone cannot hold the trunk level: a bound's forces are a compromise.
    short = 0.15 if reference.name == "bound" else 0.03
    assert np.sum(forces, axis=1)[:, 2].mean() == approx(weight, rel=short)
    assert abs(np.mean(vertical)) < 9.81 * short
    assert np.min(np.array(forces)[:, :, 2]) > -0.1 * weight
    assert np.abs(window.inputs).max() < A1.torque_limit[0]


def test_the_walk_goes_on_for_ever(reference):
    loop = reference.loop
    late, later = reference.window(5000, loop), reference.window(5000 + loop, loop)
    assert_allclose(later.q[:, 3:], late.q[:, 3:], atol=1e-9)
    assert_allclose(later.q[:, 0] - late.q[:, 0], 0.2 * loop * PERIOD, atol=1e-9)
    assert_array_equal(later.contacts, late.contacts)
    seam = reference.window(reference.size - 3, 6)
    for k in range(6):
        dx = difference(seam.q[k], seam.v[k], seam.q[k + 1], seam.v[k + 1])
        assert_allclose(dx[:3], PERIOD * np.array([0.2, 0, 0]), atol=1e-6)
        assert np.abs(dx[6:18]).max() < 0.25


def test_bad_files_and_names_give_one_line(tmp_path):
    empty = tmp_path / "empty.npz"
    np.savez(empty, q=np.zeros((3, 19)))
    text = tmp_path / "text.npz"
    text.write_text("no archive")
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(b"nothing")
    for name in (str(empty), str(text), str(cut), str(tmp_path / "gone.npz"), "hop"):
        refusal(ValueError, make_reference, A1, name, 0.2, PERIOD)


def test_a_reference_says_how_far_it_tilts_the_trunk_around_a_time(reference):
    assert reference.tilt(0.3) == approx(0.0, abs=1e-6)
    q = np.tile(reference.q[0], (200, 1))
    pitch = np.where(np.arange(200) == 100, 2.0, 0.0)  # at 1 s
    q[:, 3:7] = 0.0
    q[:, 4], q[:, 6] = np.sin(0.5 * pitch), np.cos(0.5 * pitch)
    flip = replace(
        reference, q=q, v=np.zeros((200, 18)), inputs=np.zeros((200, 12)),
        gains=np.zeros((200, 12, 36)), contacts=np.ones((200, 4)), loop=1, loop_shift=np.zeros(3),
    )  # fmt: skip
    times = (0.0, 0.79, 0.81, 1.0, 1.19, 1.21, 5.0)
    assert [flip.tilt(t) for t in times] == approx([0.0, 0.0, 2.0, 2.0, 2.0, 0.0, 0.0])
