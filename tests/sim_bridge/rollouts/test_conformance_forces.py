"""Every backend: each foot's force is its own, and together they carry the robot."""

import numpy as np
from numpy.testing import assert_allclose
from pytest import approx

from robots.conventions import GRAVITY
from saltation.hilqr import Policies
from tests.a1 import feet_in_world
from tests.sim_bridge.rollouts.motions import STAND, on_its_feet

CORNERS = np.array([[1, -1], [1, 1], [-1, -1], [-1, 1]])  # forward, left: where each foot stands


def test_each_foot_carries_what_the_robot_leans_on_it(backend, momentum):
    """Four candidates lean to a corner each: its foot carries most, the opposite one least.

    The loads' centre lies below the centre of mass but for what the robot still sways; MuJoCo has
    them 10 mm apart after a second, where the feet stand 360 mm and 260 mm apart.
    """
    batch = backend.roll_out(on_its_feet(), leaning(100))
    for foot, (states, forces) in enumerate(zip(batch.states, batch.normal_forces, strict=True)):
        load, x = forces[-1], states[-1]
        assert load.argmax() == foot and load.argmin() == 3 - foot
        assert load.sum() == approx(momentum.mass * GRAVITY, rel=0.05)
        centre = load @ feet_in_world(x[:19]) / load.sum()
        assert_allclose(centre[:2], momentum.centre(x)[:2], rtol=0, atol=0.02)


def leaning(knots):
    """Four policies with feet shifted under the body, away from the corner that is leaned to."""
    gains = np.zeros((4, knots, 12, 36))
    gains[:, :, range(12), range(6, 18)] = -120.0
    gains[:, :, range(12), range(24, 36)] = -2.0
    states, nothing = np.tile(STAND, (4, knots + 1, 1)), np.zeros((4, knots, 12))
    for shifted, (forward, left) in zip(states, CORNERS, strict=True):
        shifted[:, 7:19] += np.tile([-0.12 * left, 0.12 * forward, 0.0], 4)
    return Policies(states, nothing, nothing, gains, np.arange(4), np.ones(4))
