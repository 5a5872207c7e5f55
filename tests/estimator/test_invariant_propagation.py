"""Prediction: the log-linear law, the transition against finite differences, its noise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator.invariant.state import (
    ERRORS,
    GYROSCOPE,
    Memory,
    predict_covariance,
    predict_mean,
    roll_feet,
    transition,
)
from estimator.options import InvariantOptions
from estimator.record import record_of
from robots.legs import calf_angular_velocity_in_base, leg_measurements
from robots.rotations import exp3
from tests.a1 import A1
from tests.estimator.invariant_case import (
    DT,
    GRAVITY,
    RADIUS,
    Case,
    copy,
    disturbed,
    error_between,
    random_case,
    random_error,
)

WEIGHTS = np.array([1.0, 0.5, 0.0, 1.0])


def predicted(case: Case, state: Memory, dt: float, rolling: bool) -> tuple[Memory, np.ndarray]:
    """A state after `dt`, and its Phi."""
    after = copy(state)
    omega, acceleration = case.omega - state.biases[0], case.acceleration - state.biases[1]
    predict_mean(after.rotation, after.vectors, omega, acceleration, GRAVITY, dt)
    phi = transition(state.rotation, after.vectors, omega, acceleration, GRAVITY, dt)
    if rolling:
        roll(case, after, phi, omega, dt)
    return after, phi


def roll(case: Case, after: Memory, phi: np.ndarray, omega: np.ndarray, dt: float) -> None:
    rolling = leg_measurements(A1.legs, after.rotation, omega, case.joints, case.rates, RADIUS)[2]
    calves = [
        after.rotation @ calf_angular_velocity_in_base(omega, *leg)
        for leg in zip(case.joints.reshape(4, 3), case.rates.reshape(4, 3), strict=True)
    ]
    roll_feet(after.vectors, phi, after.rotation, rolling, np.array(calves), WEIGHTS, dt, RADIUS)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.1, 2.0))
def test_without_biases_the_error_is_autonomous_and_log_linear(seed: int, size: float) -> None:
    """However large: log of the error after the step is Phi times that before, in any state."""
    case, error = random_case(seed), random_error(seed, 0.5 * size)
    error[GYROSCOPE:] = 0.0
    phis = []
    for state in (case.truth, random_case(seed + 1).truth):
        state.biases[:] = 0.0
        after, phi = predicted(case, state, 0.1, rolling=False)
        estimate, _ = predicted(case, disturbed(state, error), 0.1, rolling=False)
        np.testing.assert_allclose(error_between(estimate, after), phi @ error, atol=1e-9)
        phis.append(phi[:GYROSCOPE, :GYROSCOPE])
    np.testing.assert_array_equal(*phis)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_the_mean_is_group_affine(seed: int) -> None:
    """F(A B) = F(A) F(I)^-1 F(B) for the flow F with the same inputs: autonomous errors."""
    case, other = random_case(seed), random_case(seed + 1)
    unit = copy(case.truth)
    unit.rotation[:], unit.vectors[:] = np.eye(3), 0.0
    product = copy(case.truth)
    product.rotation[:] = case.truth.rotation @ other.truth.rotation
    product.vectors[:] = case.truth.vectors + other.truth.vectors @ case.truth.rotation.T

    def flow(state: Memory) -> np.ndarray:
        start = copy(state)
        start.biases[:] = 0.0
        after = predicted(case, start, 0.1, rolling=False)[0]
        X = np.eye(9)
        X[:3, :3], X[:3, 3:] = after.rotation, after.vectors.T
        return X

    got = flow(product)
    wanted = flow(case.truth) @ np.linalg.inv(flow(unit)) @ flow(other.truth)
    np.testing.assert_allclose(got, wanted, atol=1e-12)


@pytest.mark.parametrize("rolling", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_transition_against_finite_differences(seed: int, rolling: bool) -> None:
    case, step = random_case(seed), 1e-5
    after, phi = predicted(case, case.truth, DT, rolling)
    found = np.empty((ERRORS, ERRORS))
    for i in range(ERRORS):
        ends = []
        for sign in (1.0, -1.0):
            start = disturbed(case.truth, sign * step * np.eye(ERRORS)[i])
            ends.append(error_between(predicted(case, start, DT, rolling)[0], after))
        found[:, i] = (ends[0] - ends[1]) / (2.0 * step)
    # The accelerometer's lever is second order in dt, so the gyroscope's columns err by dt^3.
    np.testing.assert_allclose(phi, found, atol=20.0 * DT**3)
    np.testing.assert_allclose(phi[:, :GYROSCOPE], found[:, :GYROSCOPE], atol=1e-8)


def test_constant_rotation_and_force_are_integrated_exactly() -> None:
    """One step of 0.5 s equals five hundred of 1 ms with the same inputs."""
    case = random_case(3)
    once, many = copy(case.truth), copy(case.truth)
    predict_mean(once.rotation, once.vectors, case.omega, case.acceleration, GRAVITY, 0.5)
    for _ in range(500):
        predict_mean(many.rotation, many.vectors, case.omega, case.acceleration, GRAVITY, 1e-3)
    np.testing.assert_allclose(once.rotation, many.rotation, atol=1e-12)
    np.testing.assert_allclose(once.vectors, many.vectors, atol=1e-11)
    np.testing.assert_allclose(once.rotation, case.truth.rotation @ exp3(0.5 * case.omega))


def test_the_noise_does_not_depend_on_the_rate_of_the_readings() -> None:
    case, numbers = random_case(1), record_of(InvariantOptions())[0]
    noises = np.full(4, 0.01)
    found = []
    for steps in (10, 20):
        state, covariance, dt = case.truth, 1e-6 * np.eye(ERRORS), 0.01 / steps
        for _ in range(steps):
            state, phi = predicted(case, state, dt, rolling=False)
            predict_covariance(covariance, phi, 5.0, noises, dt, numbers)
        found.append(covariance)
        assert np.array_equal(covariance, covariance.T)
    added = np.diag(found[1]) - 1e-6
    assert added[:9].max() > 1e-10
    np.testing.assert_allclose(found[0], found[1], atol=2e-3 * added.max(), rtol=5e-3)
