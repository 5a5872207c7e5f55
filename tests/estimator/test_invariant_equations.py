"""Equations of the invariant filter against the group, finite differences and textbook updates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from estimator.invariant.measurements import (
    correct,
    empty_rows,
    observe_height,
    observe_orientation,
    observe_position,
    observe_velocity,
)
from estimator.invariant.state import ERRORS, GYROSCOPE, predict_mean, roll_feet, transition
from robots.legs import (
    calf_angular_velocity_in_base,
    cross,
    foot_jacobians_in_base,
    foot_positions_in_base,
    leg_measurements,
)
from robots.rotations import exp3, skew
from tests.a1 import A1
from tests.differences import slopes
from tests.estimator.invariant_case import (
    DT,
    RADIUS,
    disturbed,
    error_between,
    random_case,
    random_error,
)

WEIGHTS = np.array([1.0, 0.5, 0.0, 1.0])


def predicted(case, state, dt, rolling):
    """A state after `dt`, and its Phi."""
    after = state.copy()
    omega, acceleration = case.omega - state.biases[0], case.acceleration - state.biases[1]
    predict_mean(after.rotation, after.vectors, omega, acceleration, dt)
    phi = transition(state.rotation, after.vectors, omega, acceleration, dt)
    if rolling:
        roll(case, after, phi, omega, dt)
    return after, phi


def roll(case, after, phi, omega, dt):
    rolling = leg_measurements(A1.legs, after.rotation, omega, case.joints, case.rates, RADIUS)[2]
    calves = [
        after.rotation @ calf_angular_velocity_in_base(omega, *leg)
        for leg in zip(case.joints.reshape(4, 3), case.rates.reshape(4, 3), strict=True)
    ]
    roll_feet(after.vectors, phi, after.rotation, rolling, np.array(calves), WEIGHTS, dt, RADIUS)


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.floats(0.1, 2.0))
def test_without_biases_the_error_is_autonomous_and_log_linear(seed, size):
    """However large: log of the error after the step is Phi times that before, in any state."""
    case, error = random_case(seed), random_error(seed, 0.5 * size)
    error[GYROSCOPE:] = 0.0
    phis = []
    for state in (case.truth, random_case(seed + 1).truth):
        state.biases[:] = 0.0
        after, phi = predicted(case, state, 0.1, rolling=False)
        estimate, _ = predicted(case, disturbed(state, error), 0.1, rolling=False)
        assert_allclose(error_between(estimate, after), phi @ error, atol=1e-9)
        phis.append(phi[:GYROSCOPE, :GYROSCOPE])
    assert_array_equal(*phis)


@pytest.mark.parametrize("rolling", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_transition_against_finite_differences(seed, rolling):
    case = random_case(seed)
    after, phi = predicted(case, case.truth, DT, rolling)

    def end(error):
        start = disturbed(case.truth, error)
        return error_between(predicted(case, start, DT, rolling)[0], after)

    found = slopes(end, np.zeros(ERRORS), 1e-5)
    # The accelerometer's lever is second order in dt, so the gyroscope's columns err by dt^3.
    assert_allclose(phi, found, atol=20.0 * DT**3)
    assert_allclose(phi[:, :GYROSCOPE], found[:, :GYROSCOPE], atol=1e-8)


FOOT, NOISE = 2, np.eye(3)
LEG = slice(3 * FOOT, 3 * FOOT + 3)


def position(case, estimate, rows):
    truth = case.truth
    in_base = truth.rotation.T @ (truth.vectors[2 + FOOT] - truth.vectors[1])
    return observe_position(rows, 0, estimate.vectors, FOOT, estimate.rotation @ in_base, NOISE)


def velocity(case, estimate, rows):
    """The encoders see what a foot that rolls truly leaves to the joints."""
    truth, centre = case.truth, np.array([0.0, 0.0, RADIUS])
    omega_true, joints, rates = case.omega - truth.biases[0], case.joints, case.rates.copy()
    h, J = (
        foot_positions_in_base(A1.legs, joints)[FOOT],
        foot_jacobians_in_base(A1.legs, joints)[FOOT],
    )
    for _ in range(60):  # the rolling depends on the rates, weakly
        spin = truth.rotation @ calf_angular_velocity_in_base(omega_true, joints[LEG], rates[LEG])
        relative = truth.rotation.T @ (cross(spin, centre) - truth.vectors[0])
        rates[LEG] = np.linalg.solve(J, relative - cross(omega_true, h))
    omega = case.omega - estimate.biases[0]
    spin = estimate.rotation @ calf_angular_velocity_in_base(omega, joints[LEG], rates[LEG])
    positions, velocities, rolling = leg_measurements(
        A1.legs, estimate.rotation, omega, joints, rates, RADIUS
    )
    return observe_velocity(
        rows, 0, estimate.vectors, (rolling - velocities)[FOOT], spin, positions[FOOT],
        estimate.rotation, skew(centre), NOISE,
    )  # fmt: skip


def height(case, estimate, rows):
    return observe_height(rows, 0, estimate.vectors, FOOT, case.truth.vectors[2 + FOOT, 2], 1.0)


def orientation(case, estimate, rows):
    measured = case.truth.rotation @ exp3(case.truth.biases[2])
    return observe_orientation(rows, 0, estimate.rotation, measured, estimate.biases[2], 1.0)


@pytest.mark.parametrize("observe", [position, velocity, height, orientation])
@pytest.mark.parametrize("seed", range(3))
def test_rows_against_finite_differences(observe, seed):
    case = random_case(seed)
    if observe is orientation:
        case.truth.biases[2] *= 0.01  # rows leave out the product of bias and error
    rows = empty_rows()
    count = observe(case, case.truth, rows)
    assert_allclose(rows.nu[:count], 0.0, atol=1e-9)
    assert np.linalg.matrix_rank(rows.N[:count, :count]) == count

    def nu(error):
        ahead = empty_rows()
        observe(case, disturbed(case.truth, error), ahead)
        return ahead.nu[:count]

    found = slopes(nu, np.zeros(ERRORS), 1e-5)
    tolerance = 2e-3 if observe is orientation else 1e-6
    assert_allclose(rows.H[:count], -found, atol=tolerance)


def positive(size, seed):
    root = np.random.default_rng(seed).standard_normal((size, size))
    return root @ root.T / size + 0.1 * np.eye(size)


@pytest.mark.parametrize("rows", [3, 10, 31])
def test_correct_is_the_textbook_update(rows):
    random = np.random.default_rng(rows)
    memory = random_case(rows).truth
    P, N = positive(ERRORS, 7), positive(rows, 8)
    H, nu = random.standard_normal((rows, ERRORS)), 0.01 * random.standard_normal(rows)
    memory.covariance[:] = P
    K = P @ H.T @ np.linalg.inv(H @ P @ H.T + N)
    wanted = disturbed(memory, K @ nu)
    assert correct(memory, H, nu, N)
    assert_allclose(memory.rotation, wanted.rotation, atol=1e-10)
    assert_allclose(memory.vectors, wanted.vectors, atol=1e-10)
    assert_allclose(memory.biases, wanted.biases, atol=1e-12)
    assert_allclose(memory.covariance, P - K @ H @ P, atol=1e-9)
    assert np.array_equal(memory.covariance, memory.covariance.T)
