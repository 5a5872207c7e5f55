"""Rollouts on threads of our own equal MuJoCo's batch to the last bit."""

import numpy as np
import pytest

from hybrid.hilqr import Policies
from sim_bridge.rollouts.mujoco_batch import MujocoRollout
from sim_bridge.rollouts.threaded import ThreadedRollout
from tests.a1 import A1

KNOTS, PERIOD = 15, 0.01  # an odd number, which does not divide into equal parts
STAND = np.concatenate([[0.0, 0.0, 0.3], [0.0, 0.0, 0.0, 1.0], A1.stand, np.zeros(18)])


def policies(candidates: int, seed: int = 0) -> Policies:
    """Two policies of random torques with feedback on the joints, at several step sizes."""
    rng = np.random.default_rng(seed)
    gains = np.zeros((2, KNOTS, 12, 36))
    gains[:, :, range(12), range(6, 18)] = -60.0
    gains[:, :, range(12), range(24, 36)] = -1.5
    return Policies(
        np.broadcast_to(STAND, (2, KNOTS + 1, 37)).copy(),
        3.0 * rng.normal(size=(2, KNOTS, 12)),
        20.0 * rng.normal(size=(2, KNOTS, 12)),
        gains,
        np.arange(candidates) % 2,
        np.linspace(0.0, 2.0, candidates),
    )


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_equals_the_batch_to_the_bit(threads):
    x0 = STAND.copy()
    x0[19:] = 0.3 * np.random.default_rng(1).normal(size=18)
    batch, threaded = (
        MujocoRollout(A1, KNOTS, PERIOD),
        ThreadedRollout(A1, KNOTS, PERIOD, 2, threads),
    )
    for count in (4, 9, 1, 9):  # more than before, and again after another call
        policy = policies(count)
        expected, found = batch.roll_out(x0, policy), threaded.roll_out(x0, policy)
        for left, right in zip(expected, found, strict=True):
            np.testing.assert_array_equal(left, right)
    assert expected.normal_forces.max() > 10.0


def test_an_error_in_a_thread_reaches_the_caller():
    policy = policies(9)
    policy.policy_index[8] = 5  # there are two policies
    with pytest.raises(IndexError):
        ThreadedRollout(A1, KNOTS, PERIOD).roll_out(STAND, policy)
