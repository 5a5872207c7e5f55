"""MuJoCo Warp's rollouts: room for contacts.

On Warp's CPU device, or on the first GPU of a machine that has one.
"""

import logging
from importlib.util import find_spec

import numpy as np
import pytest

from sim_bridge.options import WarpOptions
from sim_bridge.rollouts import warp_rollout
from tests.a1 import A1
from tests.sim_bridge.rollouts.motions import STAND, policies

# Not imported yet: that takes long, and each process of the tests looks for tests here.
pytestmark = pytest.mark.skipif(not find_spec("mujoco_warp"), reason="needs MuJoCo Warp")
KNOTS, PERIOD = 8, 0.01


def make(**options):
    return warp_rollout.WarpRollout(A1, PERIOD, 2, WarpOptions(), **options)


def test_dropped_contacts_are_never_silent(caplog):
    tight = make(contacts=1)
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            found = tight.roll_out(STAND - 0.1 * np.eye(37)[2], policies(KNOTS))
    assert not found.finite.any()
    assert tight.statistics()["overflows"] == 10
    assert len(caplog.records) == 1 and "contact" in caplog.text
    assert tight.roll_out(STAND + np.eye(37)[2], policies(KNOTS)).finite.all()  # in the air, later


def test_a_robot_that_lies_in_the_floor_at_all_its_joint_limits_has_room():
    """The most constraints there can be: every foot down and every joint beyond its limit."""
    x0, rollout = STAND.copy(), make()
    x0[2], x0[7:19] = -0.2, np.tile([1.0, 4.4, -0.7], 4)
    assert rollout.roll_out(x0, policies(KNOTS)).finite.all()
    assert rollout.statistics()["overflows"] == 0
