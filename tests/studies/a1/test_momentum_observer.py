"""Momentum observer: forces on the feet of a robot at rest, and delays of touchdowns."""

import numpy as np
import pinocchio as pin
from numpy.testing import assert_allclose

from robots.pinocchio_model import foot_frame_ids, load_pinocchio
from studies.a1.momentum_observer import PERIOD, MomentumObserver, delays
from tests.a1 import A1


def test_torques_at_rest_tell_the_forces_on_the_feet():
    q = np.concatenate([[0, 0, 0.3, 0.02, -0.03, 0.1], [np.sqrt(1 - 0.0113)], A1.stand])
    model, forces = load_pinocchio(A1), np.random.default_rng(0).normal(0.0, 20.0, (4, 3))
    data, torque = model.createData(), []
    weight = pin.nonLinearEffects(model, data, q, np.zeros(18))
    for leg, frame in enumerate(foot_frame_ids(model)):
        joints = slice(6 + 3 * leg, 9 + 3 * leg)
        J = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)
        torque += list(weight[joints] - J[:3, joints].T @ forces[leg])
    observer = MomentumObserver(A1)
    found = [observer.update(q, np.zeros(18), np.array(torque)) for _ in range(60)]
    assert_allclose(found[0], 0.0, atol=1e-9)
    assert_allclose(found[-1], forces, atol=1e-6)


def test_delays_are_from_touchdown_to_touchdown_and_none_where_it_is_missed():
    contact, stands = np.zeros((2, 200, 4), dtype=bool)
    contact[50:, 0] = stands[53:, 0] = contact[60:, 2] = True
    assert_allclose(delays(contact, stands), [3.0 * PERIOD, np.nan])
