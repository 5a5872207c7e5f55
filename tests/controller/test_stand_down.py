"""The motion to a stand and to the ground: from the measurement, continuous, ending at rest."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from controller.options import StandDownOptions
from controller.stand_down import LIE_S, PAUSE_S, RISE_S, StandDown, minimum_jerk
from tests.a1 import A1
from tests.differences import slopes

O = StandDownOptions()  # noqa: E741
START = A1.stand + np.linspace(-0.3, 0.3, 12)
TORQUE = np.linspace(-8.0, 12.0, 12)


def test_starts_at_the_measurement_with_the_last_torque():
    motion = StandDown(O, A1, START, TORQUE, now=3.0)
    q, dq = motion.target(3.0)
    assert_array_equal(q, START)
    assert_array_equal(dq, 0.0)
    assert_allclose(motion.aim(START, np.zeros(12), 3.0)[0], TORQUE)


def test_passes_through_the_stand_and_ends_lying():
    motion = StandDown(O, A1, START, TORQUE, now=0.0)
    for now in (RISE_S, RISE_S + 0.5 * PAUSE_S, RISE_S + PAUSE_S):
        assert_allclose(motion.target(now)[0], A1.stand, atol=1e-12)
    for now in (RISE_S + PAUSE_S + LIE_S, 100.0):
        assert_allclose(motion.target(now)[0], A1.lie, atol=1e-12)
        assert_allclose(motion.target(now)[1], 0.0, atol=1e-12)


def test_targets_and_old_torque_are_continuous():
    motion = StandDown(O, A1, START, TORQUE, now=0.0)
    times = np.arange(0.0, 3.2, 0.001)
    q = np.array([motion.target(t)[0] for t in times])
    assert np.abs(np.diff(q, axis=0)).max() < 0.0025  # no faster than 2.5 rad/s
    torque = np.array([motion.aim(*motion.target(t), t)[0] for t in times])
    assert np.abs(np.diff(torque, axis=0)).max() < 0.05
    assert_array_equal(torque[times > RISE_S], 0.0)


def test_velocity_is_the_derivative_of_position():
    for since in (0.05, 0.2, 0.39):
        found = slopes(lambda t: minimum_jerk(START, A1.stand, t, 0.4)[0], since, 1e-5)
        assert_allclose(minimum_jerk(START, A1.stand, since, 0.4)[1], found, atol=1e-7)


def test_a_plan_may_take_over_until_lying_down_begins():
    motion = StandDown(O, A1, START, TORQUE, now=1.0)
    assert motion.can_return(1.0 + RISE_S + PAUSE_S - 0.001)
    assert not motion.can_return(1.0 + RISE_S + PAUSE_S + 0.001)
