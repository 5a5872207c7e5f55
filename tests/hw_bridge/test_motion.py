"""The bridge's motions: continuous and bounded as such, and on the simulated robot's feet."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hw_bridge.motion import PostureMotions
from hw_bridge.state_machine import MotionOptions
from tests.a1 import A1

O = MotionOptions()  # noqa: E741
MOTIONS = PostureMotions(O, A1)
SPRAWLED = np.array([-0.7, 1.5, -1.3, 0.6, -0.9, -0.95, -0.6, 2.4, -1.6, 0.75, 1.9, -2.3])
TWISTED = np.array([-0.8, 0.7, -1.6, -0.5, 2.2, -1.1, -0.5, 1.7, -1.3, 0.5, 2.0, -2.69])
TROT = np.array([0.05, 1.1, -2.2, -0.05, 0.6, -1.5, -0.05, 0.9, -1.55, 0.05, 1.15, -2.15])


@pytest.mark.parametrize("start", [SPRAWLED, TWISTED, A1.stand, TROT])
def test_targets_are_continuous_within_range_and_speed(start):
    """Of a robot that follows: from the measured pose and torque, each way to its end."""
    torque = np.linspace(-15.0, 15.0, 12)
    for motion, speed, tau in (
        (MOTIONS.stand_up(start), O.joint_speed, None),
        (MOTIONS.give_up(start, 0.5), O.joint_speed, None),
        (MOTIONS.sit_down(start, torque), O.recover_speed, torque),
        (MOTIONS.recover(start, torque), O.recover_speed, torque),
    ):
        q, now, dt = start.copy(), 7.0, 4e-3
        while not motion.is_done:
            now += 60.0 if q is start else dt  # a loop that stalled does not let targets jump
            sent = motion.step(now, q)
            assert np.abs(sent.q - q).max() <= speed * dt + 1e-9
            assert np.abs(sent.dq).max() <= speed * (1.0 + 1e-9)
            assert (sent.q >= A1.legs.lower).all() and (sent.q <= A1.legs.upper).all()
            assert tau is None or np.abs(sent.tau - tau).max() < 0.4
            q, tau = sent.q, sent.tau
        assert_allclose(q, motion.goal, atol=1e-12)
