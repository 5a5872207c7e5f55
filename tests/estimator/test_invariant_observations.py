"""Every row of the measurements against finite differences, noise-free."""

from collections.abc import Callable

import numpy as np
import pytest

from estimator.invariant.measurements import (
    Rows,
    empty_rows,
    observe_height,
    observe_orientation,
    observe_position,
    observe_velocity,
)
from estimator.invariant.state import ERRORS, VELOCITY, Memory
from robots.legs import (
    calf_angular_velocity_in_base,
    cross,
    foot_jacobians_in_base,
    foot_positions_in_base,
    leg_measurements,
)
from robots.rotations import exp3, skew
from tests.a1 import A1
from tests.estimator.invariant_case import RADIUS, Case, disturbed, random_case

FOOT, NOISE = 2, np.eye(3)
LEG = slice(3 * FOOT, 3 * FOOT + 3)
Observe = Callable[[Case, Memory, Rows], int]


def position(case: Case, estimate: Memory, rows: Rows) -> int:
    truth = case.truth
    in_base = truth.rotation.T @ (truth.vectors[2 + FOOT] - truth.vectors[1])
    return observe_position(rows, 0, estimate.vectors, FOOT, estimate.rotation @ in_base, NOISE)


def velocity(case: Case, estimate: Memory, rows: Rows) -> int:
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


def height(case: Case, estimate: Memory, rows: Rows) -> int:
    return observe_height(rows, 0, estimate.vectors, FOOT, case.truth.vectors[2 + FOOT, 2], 1.0)


def orientation(case: Case, estimate: Memory, rows: Rows) -> int:
    measured = case.truth.rotation @ exp3(case.truth.biases[2])
    return observe_orientation(rows, 0, estimate.rotation, measured, estimate.biases[2], 1.0)


@pytest.mark.parametrize("observe", [position, velocity, height, orientation])
@pytest.mark.parametrize("seed", range(3))
def test_rows_against_finite_differences(observe: Observe, seed: int) -> None:
    case, step = random_case(seed), 1e-5
    if observe is orientation:
        case.truth.biases[2] *= 0.01  # rows leave out the product of bias and error
    rows = empty_rows()
    count = observe(case, case.truth, rows)
    np.testing.assert_allclose(rows.nu[:count], 0.0, atol=1e-9)
    assert np.linalg.matrix_rank(rows.N[:count, :count]) == count
    found = np.empty((count, ERRORS))
    for i in range(ERRORS):
        ends = []
        for sign in (1.0, -1.0):
            ahead = empty_rows()
            observe(case, disturbed(case.truth, sign * step * np.eye(ERRORS)[i]), ahead)
            ends.append(ahead.nu[:count].copy())
        found[:, i] = (ends[0] - ends[1]) / (2.0 * step)
    tolerance = 2e-3 if observe is orientation else 1e-6
    np.testing.assert_allclose(rows.H[:count], -found, atol=tolerance)


def test_kinematics_do_not_depend_on_the_state() -> None:
    """A right-invariant observation: the same rows wherever the filter believes itself."""
    found = []
    for seed in range(2):
        rows = empty_rows()
        position(random_case(seed), random_case(seed + 5).truth, rows)
        found.append(rows.H)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("seed", range(3))
def test_the_base_velocity_errs_by_the_velocity_alone(seed: int) -> None:
    """d(R^T v) / d xi = R^T at xi_v and zero elsewhere, as `velocity_covariance` takes it."""
    truth, step = random_case(seed).truth, 1e-5
    wanted = np.zeros((3, ERRORS))
    wanted[:, VELOCITY : VELOCITY + 3] = truth.rotation.T
    for i in range(ERRORS):
        ahead, behind = (disturbed(truth, sign * step * np.eye(ERRORS)[i]) for sign in (1.0, -1.0))
        difference = ahead.rotation.T @ ahead.vectors[0] - behind.rotation.T @ behind.vectors[0]
        np.testing.assert_allclose(difference / (2.0 * step), wanted[:, i], atol=1e-8)
