import numpy as np
import pytest

from hybrid.simulation import simulate_step
from hybrid.variational import fundamental_matrix
from studies.kong.systems.constant_flow import LEFT, RIGHT, constant_flow

NOTHING = np.zeros(0)


def test_crosses_once_and_goes_straight_on_either_side():
    step = simulate_step(constant_flow(), LEFT, np.array([-2.5, 0.0]), 5.0, NOTHING)
    assert step.mode == RIGHT and len(step.events) == 1
    assert step.events[0].time == pytest.approx(2.5, abs=1e-12)
    np.testing.assert_allclose(step.state, [2.5, 0.0], atol=1e-12)


def test_only_the_saltation_matrix_changes_a_perturbation():
    """Arriving later by dx_1 costs 2 dx_1 of height; the reset's Jacobian says nothing (3.10)."""
    system, x = constant_flow(), np.array([-2.5, 0.0])
    actual = fundamental_matrix(system, LEFT, x, 5.0)
    np.testing.assert_allclose(actual.Phi, [[1.0, 0.0], [2.0, 1.0]], atol=1e-12)
    reset = fundamental_matrix(system, LEFT, x, 5.0, with_reset_jacobian=True)
    np.testing.assert_allclose(reset.Phi, np.eye(2), atol=1e-12)


def test_the_fundamental_matrix_is_exact_for_finite_perturbations():
    system, x, change = constant_flow(), np.array([-2.5, 0.0]), np.array([0.9, -0.7])
    ends = [
        simulate_step(system, LEFT, start, 5.0, NOTHING).state for start in (x, x + change)
    ]
    Phi = fundamental_matrix(system, LEFT, x, 5.0).Phi
    np.testing.assert_allclose(ends[1] - ends[0], Phi @ change, atol=1e-12)


def test_equal_flows_leave_no_trace():
    """(3.12): identity reset and one flow on both sides."""
    system = constant_flow((1.0, 0.5), (1.0, 0.5))
    Phi = fundamental_matrix(system, LEFT, np.array([-1.0, 0.0]), 3.0).Phi
    np.testing.assert_allclose(Phi, np.eye(2), atol=1e-12)
