"""The motors' law and their torque-speed curve."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from pytest import approx

from sim_bridge.motors import available_torque, limited_torque, motor_limits, motor_torques
from sim_bridge.options import MotorOptions
from tests.a1 import A1
from tests.refusals import refusal

CURVE = (33.5, 10.5, 21.0)
SPEEDS = st.floats(-60.0, 60.0)
TORQUES = st.floats(-200.0, 200.0)


def test_small_torques_follow_the_pd_law_exactly():
    random = np.random.default_rng(0)
    command = random.normal(size=(5, 12)) * np.array([[0.1], [0.1], [10.0], [0.3], [2.0]])
    q, dq, out = 0.1 * random.normal(size=12), random.normal(size=12), np.empty(12)
    motor_torques(command, q, dq, np.outer(CURVE, np.ones(12)), out)
    q_des, dq_des, kp, kd, tau = command
    assert_allclose(out, tau + kp * (q_des - q) + kd * (dq_des - dq), atol=1e-13)


@given(TORQUES, SPEEDS)
def test_torque_is_bounded_and_keeps_its_sign(torque, speed):
    given_torque = limited_torque(torque, speed, *CURVE)
    assert abs(given_torque) <= min(abs(torque), 33.5)
    assert given_torque * torque >= 0.0


@given(SPEEDS)
def test_braking_torque_keeps_the_full_limit(speed):
    assert abs(limited_torque(-np.copysign(100.0, speed), speed, *CURVE)) == 33.5


@pytest.mark.parametrize(
    "speed, expected",
    [(0.0, 33.5), (10.5, 33.5), (15.75, 16.75), (-15.75, 16.75), (21.0, 0.0), (40.0, 0.0)],
)
def test_corner_middle_and_end_of_the_curve(speed, expected):
    assert available_torque(speed, *CURVE) == approx(expected, abs=1e-12)


def test_limits_that_make_no_curve_are_refused():
    assert "corner_speed is 21" in refusal(
        ValueError, motor_limits, A1, MotorOptions(corner_speed=21.0)
    )
