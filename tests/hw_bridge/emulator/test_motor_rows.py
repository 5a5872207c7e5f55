"""What the drivers make of setpoints is the motor law of the wire, for every combination."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hw_bridge.emulator.motors import motor_rows
from hw_bridge.wire.layout import POS_STOP, SERVO, VEL_STOP
from hw_bridge.wire.low_command import Setpoints

NONE = np.zeros(12, np.bool_)
ALL_SERVO = np.full(12, SERVO)


def rows_of(setpoints, mode=ALL_SERVO, shut=NONE, stuck=NONE, at=None, brake=False):
    rows = np.full((5, 12), np.nan)
    at = np.zeros(12) if at is None else at
    count = motor_rows(mode, *setpoints[:5], shut, stuck, at, brake, rows)
    assert np.isfinite(rows).all()
    return rows, count


def torque(rows, q, dq):
    return rows[4] + rows[2] * (rows[0] - q) + rows[3] * (rows[1] - dq)


def drawn(seed):
    random = np.random.default_rng(seed)
    q, dq, tau = random.uniform(-3, 3, 12), random.uniform(-20, 20, 12), random.uniform(-30, 30, 12)
    q[random.random(12) < 0.3], dq[random.random(12) < 0.3] = POS_STOP, VEL_STOP
    setpoints = Setpoints(q, dq, random.uniform(0, 100, 12), random.uniform(0, 5, 12), tau)
    return setpoints, random.uniform(-3, 3, 12), random.uniform(-20, 20, 12)


@given(st.integers(0, 2**32 - 1))
def test_braking_stuck_and_shut_down_motors(seed):
    setpoints, q, dq = drawn(seed)
    random = np.random.default_rng(seed + 1)
    mode = np.where(random.random(12) < 0.3, random.integers(0, 256, 12), SERVO)
    shut, stuck, at = random.random(12) < 0.2, random.random(12) < 0.3, random.uniform(-3, 3, 12)
    rows, _ = rows_of(setpoints, mode, shut, stuck, at)
    # A stuck encoder's loop sees its own angle and no speed, wherever the joint is.
    seen_q, seen_dq = np.where(stuck, at, q), np.where(stuck, 0.0, dq)
    expected = np.where(mode == SERVO, setpoints.torque(seen_q, seen_dq), -3.0 * dq)
    expected[shut] = 0.0
    assert_allclose(torque(rows, q, dq), expected, atol=1e-9)
    braked, _ = rows_of(setpoints, mode, shut, stuck, at, brake=True)
    assert_allclose(torque(braked, q, dq), np.where(shut, 0.0, -3.0 * dq), atol=1e-9)


@given(st.integers(0, 4), st.integers(0, 11), st.sampled_from([np.nan, np.inf, -np.inf]))
def test_a_motor_with_a_number_that_is_none_brakes_alone(row, i, bad):
    setpoints, q, dq = drawn(0)
    wrong = Setpoints(*(values.copy() for values in setpoints[:5]))
    wrong[row][i] = bad
    good, _ = rows_of(setpoints)
    rows, count = rows_of(wrong)
    assert count == 1
    assert torque(rows, q, dq)[i] == -3.0 * dq[i]
    assert_array_equal(np.delete(rows, i, 1), np.delete(good, i, 1))
