"""Rollouts on threads of our own equal MuJoCo's batch to the last bit."""

import numpy as np
import pytest

from sim_bridge.rollouts.mujoco_batch import MujocoRollout
from sim_bridge.rollouts.threaded import ThreadedRollout
from tests.a1 import A1
from tests.sim_bridge.rollouts.motions import policies, standing

KNOTS, PERIOD = 15, 0.01  # an odd number, which does not divide into equal parts


@pytest.mark.parametrize("threads", [1, 3])
def test_equals_the_batch_to_the_bit(threads):
    batch, threaded = (
        MujocoRollout(A1, KNOTS, PERIOD),
        ThreadedRollout(A1, KNOTS, PERIOD, 2, threads),
    )
    for count in (4, 9, 1, 9):  # more than before, and again after another call
        policy = policies(KNOTS, count, noise=5.0)
        expected, found = batch.roll_out(standing(), policy), threaded.roll_out(standing(), policy)
        for left, right in zip(expected, found, strict=True):
            np.testing.assert_array_equal(left, right)
    assert expected.normal_forces.max() > 10.0
