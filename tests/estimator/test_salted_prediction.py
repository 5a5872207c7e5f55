"""How the covariance moves over a tick: the dense textbook computation, and Monte Carlo."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from estimator.salted.measurements import TOUCHDOWN_TIME
from estimator.salted.memory import (
    AGE,
    GYRO_BIAS,
    JOINTS,
    PREVIOUS,
    RATES,
    ROBOT,
    SIZE,
    STATES,
    VELOCITY,
)
from estimator.salted.prediction import (
    IMPACT_NOISE,
    TOUCHDOWN_ACCELERATION_NOISE,
    predict,
    reset,
)
from robots.rotations import rotation_from_quaternion
from tests.a1 import A1
from tests.estimator.salted_case import LEGS, PARAMETERS, random_memory

DT = 2e-3


def process_noise(age):
    """G diag(variances) G^T with G = [dt, 1] of each acceleration; biases beside it."""
    p, deviations = PARAMETERS, np.empty(18)
    deviations[:3], deviations[3:6] = p.acceleration_noise, p.angular_acceleration_noise
    landing = np.where(age < 0.0, 0.0, TOUCHDOWN_ACCELERATION_NOISE) * np.exp(
        -np.abs(age) / TOUCHDOWN_TIME
    )
    deviations[6:] = np.hypot(p.joint_acceleration_noise, np.repeat(landing, 3))
    G = np.vstack((DT * np.eye(18), np.eye(18)))
    W = np.zeros((SIZE, SIZE))
    W[:ROBOT, :ROBOT] = (G * deviations**2 * DT) @ G.T
    walks = (p.gyro_bias_walk, p.accelerometer_bias_walk, p.misalignment_walk)
    W[GYRO_BIAS:STATES, GYRO_BIAS:STATES] = np.diag(np.repeat(walks, 3) ** 2 * DT)
    return W


@settings(max_examples=12)
@given(st.integers(0, 10_000))
def test_the_covariance_is_that_of_the_augmented_state(seed):
    """[x, b, v-] moves by [[A, 0], [0, 1], [turn of v, 0]], whatever v- was before."""
    m, A = random_memory(seed), np.random.default_rng(seed).standard_normal((ROBOT, ROBOT))
    A[JOINTS:VELOCITY] = np.eye(ROBOT)[JOINTS:VELOCITY] + DT * A[RATES:]
    m.contact[AGE] = [-1.0, 0.0, 0.004, 0.5]
    before, after = m.copy(), random_memory(seed + 1)
    predict(m, after.q.copy(), after.v.copy(), A, DT, PARAMETERS)
    turn = rotation_from_quaternion(m.q[3:7]).T @ rotation_from_quaternion(before.q[3:7])
    F = np.zeros((SIZE, SIZE))
    F[:ROBOT, :ROBOT], F[ROBOT:STATES, ROBOT:STATES] = A, np.eye(STATES - ROBOT)
    F[PREVIOUS:, VELOCITY : VELOCITY + 3] = turn
    wanted = F @ before.P @ F.T + process_noise(m.contact[AGE])
    assert_allclose(m.P, wanted, atol=1e-12 * np.abs(wanted).max(), rtol=1e-10)
    assert_allclose(m.previous, turn @ before.v[:3], atol=1e-14)
    assert np.array_equal(m.P, m.P.T)


@settings(max_examples=12)
@given(st.integers(0, 10_000))
def test_a_reset_maps_the_robots_errors_and_keeps_the_rest(seed):
    """J P J^T on 48 with J = blkdiag(Xi, 1), and the noises; the tick before stays as it was."""
    m, random = random_memory(seed), np.random.default_rng(seed)
    Xi, v_plus = random.standard_normal((ROBOT, ROBOT)), random.standard_normal(18)
    along, before = random.standard_normal(ROBOT), m.copy()
    J = np.eye(SIZE)
    J[:ROBOT, :ROBOT] = Xi
    W = np.zeros((SIZE, SIZE))
    W[:ROBOT, :ROBOT] = np.outer(along, along)
    jump = IMPACT_NOISE * (v_plus - m.v)
    W[VELOCITY:ROBOT, VELOCITY:ROBOT] += np.diag(jump**2)
    rates = slice(VELOCITY + 6, ROBOT)
    W[rates, rates] += (PARAMETERS.foot_vertical_noise / A1.legs.thigh[0]) ** 2 * np.eye(12)
    reset(m, LEGS, v_plus, Xi, along, PARAMETERS)
    assert_allclose(m.P, J @ before.P @ J.T + W, atol=1e-10)
    assert np.array_equal(m.P, m.P.T)
    assert_array_equal(m.v, v_plus)
    for name in ("q", "bias", "previous", "contact", "torque"):
        assert_array_equal(getattr(m, name), getattr(before, name))
