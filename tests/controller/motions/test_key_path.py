"""The path through key poses: flights fall freely, phases follow each other, poses are met."""

import numpy as np
from numpy.testing import assert_allclose

from controller.motions import key_path
from controller.options import Motion, Phase, Pose
from robots.conventions import GRAVITY
from tests.a1 import A1

PERIOD = 0.01
FLIP = Motion(
    phases=(
        Phase("push", 0.3, end=Pose(position=(0.0, 0.0, 0.4), turn=(0.0, -1.0, 0.0))),
        Phase("flight", 0.4, "none", Pose(position=(0.1, 0.0, 0.3), turn=(0.0, -6.0, 0.0))),
        Phase("landing", 0.3, end=Pose((0.1, 0.0, A1.stand_height), (0.0, -6.28319, 0.0))),
    )
)  # fmt: skip


def test_in_flight_the_base_falls_freely():
    z = key_path(FLIP, A1, PERIOD).q[31:70, 2]
    assert_allclose(np.diff(z, 2) / PERIOD**2, -GRAVITY, rtol=1e-6)


def test_the_base_has_one_velocity_where_phases_meet():
    fine = key_path(FLIP, A1, 1e-4)
    place = fine.q[:, :3]
    for end in (3000, 7000):
        before, after = place[end] - place[end - 1], place[end + 1] - place[end]
        assert_allclose(after, before, atol=3e-7)


def test_the_path_meets_its_poses_and_contacts():
    path = key_path(FLIP, A1, PERIOD)
    assert_allclose(path.q[30, :3], (0.0, 0.0, 0.4), atol=1e-12)
    assert_allclose(path.q[-1, :3], (0.1, 0.0, A1.stand_height), atol=1e-12)
    assert_allclose(path.q[0, 7:10], (0.0, 0.8, -1.6))
    assert path.contacts[29].tolist() == [1.0] * 4 and path.contacts[30].tolist() == [0.0] * 4
