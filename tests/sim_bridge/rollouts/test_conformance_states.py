"""Every backend: a state goes in and comes out as the same robot, and moves as that robot would.

The quaternion's order, the frames of the velocities and the order of joints and motors show in the
motion that follows, not in the echo of the first knot.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from robots.conventions import GRAVITY
from tests.a1 import A1
from tests.sim_bridge.rollouts import plain
from tests.sim_bridge.rollouts.motions import STAND, anywhere, policies

FINE = 10  # physics steps in a knot of the laws below, which hold in the limit of short ones
KNOTS = 20
PERIOD = 0.01


@pytest.mark.parametrize("seed", range(2))
def test_a_tumbling_robot_falls_as_one_body_in_the_large(backend, momentum, seed):
    """Its centre of mass flies a parabola; its angular momentum about it stays, whatever it does.

    Momenta are Pinocchio's. In steps of 1 ms MuJoCo strays by 1 mm and 0.0026 N m s.
    """
    policy = policies(KNOTS, 2, seed, noise=2.0, held=False)
    batch, t = backend.roll_out(anywhere(seed), policy, PERIOD, FINE), PERIOD * np.arange(KNOTS + 1)
    for states in batch.states:
        h = np.array([momentum.of(x) for x in states])
        centre = np.array([momentum.centre(x) for x in states])
        flight = np.outer(t, h[0, :3] / momentum.mass) + np.outer(t**2, [0, 0, -GRAVITY / 2])
        assert_allclose(centre, centre[0] + flight, rtol=0, atol=3e-3)
        assert_allclose(h[:, 3:], h[:1, 3:].repeat(KNOTS + 1, axis=0), atol=1e-2)
        assert np.linalg.norm(h[0, 3:]) > 0.3  # a momentum too small to show an error


def test_torques_are_the_law_of_the_states(backend):
    """(5.17) with full gains: torques agree with the recorded states, far from the reference too.

    Attitudes are compared the short way round, though q and -q are one attitude.
    """
    rng, knots = np.random.default_rng(3), 6
    policy = policies(knots, 5, noise=2.0)
    policy.gains[:] = 2.0 * rng.normal(size=policy.gains.shape)
    policy.states[:, :, 3:7] = Rotation.random(2 * (knots + 1), rng=4).as_quat().reshape(2, -1, 4)
    policy.states[:, ::2, 3:7] *= -1.0
    policy.states[:, :, 7:] += 0.3 * rng.normal(size=(2, knots + 1, 30))
    batch = backend.roll_out(anywhere(5), policy)
    for c in range(5):
        for k in range(knots):
            expected = plain.torque(policy, c, k, batch.states[c, k])
            # 36 products, and a square root that halves the digits of a turn near half a turn
            assert_allclose(batch.inputs[c, k], expected, rtol=0, atol=3e3 * backend.digits)
    assert (np.abs(batch.inputs) < A1.torque_limit[0]).mean() > 0.4  # too many are only the limit


def test_motors_give_no_more_than_their_limit(backend):
    """What a motor is asked for beyond its limit moves the robot as the limit does."""
    policy, limited = policies(8, 4, held=False), policies(8, 4, held=False)
    signs = np.where(np.random.default_rng(1).normal(size=policy.inputs.shape) > 0.0, 1.0, -1.0)
    policy.feedforward[:] = limited.feedforward[:] = 0.0
    policy.inputs[:], limited.inputs[:] = 4000.0 * signs, A1.torque_limit[0] * signs
    x0 = STAND + np.eye(37)[2]
    asked, given = backend.roll_out(x0, policy), backend.roll_out(x0, limited)
    assert_array_equal(np.abs(asked.inputs), A1.torque_limit[0])
    assert_array_equal(np.sign(asked.inputs), signs[policy.policy_index])
    assert_allclose(asked.states, given.states, rtol=0, atol=backend.same)
