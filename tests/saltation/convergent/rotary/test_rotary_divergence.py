"""Divergence metrics and linearisation of the rotary cart pole."""

import numpy as np
import pytest
from hypothesis import given
from pytest import approx
from scipy.integrate import solve_ivp

from saltation.convergent.contraction import metrics_of, symmetric_part
from saltation.convergent.rotary.divergence import (
    average_divergence,
    damping_divergence,
    linearise,
)
from saltation.convergent.rotary.model import flow, inertia
from saltation.convergent.rotary.parameters import QUBE_SERVO_2
from tests.differences import slopes
from tests.saltation.convergent.rotary.test_rotary_model import states, torques


@given(states, torques)
def test_the_linearisation_is_the_differences(x, torque):
    A, B = linearise(QUBE_SERVO_2, x, torque)
    found = slopes(lambda z: np.array(flow(QUBE_SERVO_2, z[:4], z[4])), np.append(x, torque))
    assert np.allclose(np.hstack([A, B]), found, rtol=1e-5, atol=1e-3)


@given(states, torques)
def test_the_average_is_a_quarter_of_the_trace(x, torque):
    A, _ = linearise(QUBE_SERVO_2, x, torque)
    assert average_divergence(QUBE_SERVO_2, x) == approx(0.25 * np.trace(A), abs=1e-9)


@given(states, torques)
def test_no_configuration_contracts(x, torque):
    A, _ = linearise(QUBE_SERVO_2, x, torque)
    bound = 0.5 * (A[2, 2] + np.hypot(A[2, 2], 1.0))
    D_m = metrics_of(symmetric_part(A)).maximum
    assert D_m >= bound * (1.0 - 1e-9) - 1e-9 and D_m > 0.0  # (2.28), strictly


@pytest.mark.parametrize("damped", [True, False])
def test_the_integral_knows_the_path_by_its_damping_alone(damped):
    body = QUBE_SERVO_2 if damped else QUBE_SERVO_2._replace(D_r=0.0, D_p=0.0)

    def rate(time, y):
        x = y[:4]
        metrics = average_divergence(body, x), damping_divergence(body, x[1])
        return [*flow(body, x, 0.05 * np.sin(9.0 * time)), *metrics]

    start = np.array([0.0, 0.4, 3.0, -8.0, 0.0, 0.0])
    end = solve_ivp(rate, (0.0, 0.7), start, rtol=1e-11, atol=1e-12).y[:, -1]
    before, after = (inertia(body, alpha).determinant for alpha in (start[1], end[1]))
    assert end[4] == approx(end[5] - 0.25 * np.log(after / before), abs=1e-8)
    assert abs(end[1] - start[1]) > 0.5
    assert (end[5] == 0.0) is not damped
