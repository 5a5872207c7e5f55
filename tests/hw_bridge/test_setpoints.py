"""The motor's law."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hw_bridge.setpoints import Setpoints, damping, no_torque
from hw_bridge.wire.layout import POS_STOP, SERVO, VEL_STOP

NUMBERS = arrays(np.float64, 12, elements=st.floats(-100.0, 100.0))


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_law(q_target, dq_target, kp, kd, tau, q, dq):
    setpoints = Setpoints(q_target, dq_target, kp, kd, tau)
    expected = [tau[i] + kp[i] * (q_target[i] - q[i]) + kd[i] * (dq_target[i] - dq[i])
                for i in range(12)]  # fmt: skip
    np.testing.assert_allclose(setpoints.torque(q, dq), expected, rtol=1e-12, atol=1e-9)


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_stops_switch_their_loop_off_whatever_the_gain(kp, kd, tau, q, dq):
    off = Setpoints(np.full(12, POS_STOP), np.full(12, VEL_STOP), kp, kd, tau)
    np.testing.assert_array_equal(off.torque(q, dq), tau)


@given(NUMBERS, NUMBERS, st.floats(0.0, 50.0))
def test_damping_takes_energy_and_no_torque_is_none(q, dq, kd):
    np.testing.assert_array_equal(damping(kd).torque(q, dq), -kd * dq)
    np.testing.assert_array_equal(no_torque().torque(q, dq), 0.0)
    assert damping(kd).mode == no_torque().mode == SERVO


def test_each_field_has_an_array_of_its_own():
    for setpoints in (no_torque(), damping(2.0)):
        setpoints.kp[:] = 1.0
        assert (setpoints.tau == 0.0).all()
    assert (no_torque().kp == 0.0).all()
