"""The motor's law."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from hw_bridge.wire.low_command import Setpoints, damping, no_torque

NUMBERS = arrays(np.float64, 12, elements=st.floats(-100.0, 100.0))


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_law(q_target, dq_target, kp, kd, tau, q, dq):
    setpoints = Setpoints(q_target, dq_target, kp, kd, tau)
    expected = [tau[i] + kp[i] * (q_target[i] - q[i]) + kd[i] * (dq_target[i] - dq[i])
                for i in range(12)]  # fmt: skip
    assert_allclose(setpoints.torque(q, dq), expected, rtol=1e-12, atol=1e-9)


@given(NUMBERS, NUMBERS, st.floats(0.0, 50.0))
def test_damping_takes_energy_and_no_torque_is_none(q, dq, kd):
    assert_array_equal(damping(kd).torque(q, dq), -kd * dq)
    assert_array_equal(no_torque().torque(q, dq), 0.0)
