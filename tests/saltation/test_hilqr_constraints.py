"""Inequality constraints: closed forms, a quadratic program, and derivatives by differences."""

import numpy as np
import pytest
from pytest import approx

from saltation.hilqr import (
    ConstrainedHilqr,
    ConstrainedModel,
    ConstraintOptions,
    HilqrOptions,
    JoinedConstraints,
    Policies,
)
from tests.saltation.smooth_models import StateBound, double_integrator, equal_at_the_end

EXACT = HilqrOptions(tolerance=1e-12, max_iterations=100)


@pytest.mark.parametrize("ceiling", [0.05, 0.1, 0.15, 0.2, 0.24, 0.3])
def test_ball_under_a_ceiling_has_the_cost_of_bryson_and_ho(ceiling):
    """From [0, 1] to [0, -1] in one second with the least effort (Bryson and Ho 1975, 3.11).

    J = 4 / (9 l) for l <= 1/6, 2 + 6 (1 - 4 l)^2 for 1/6 <= l <= 1/4, and 2 above. With constant
    accelerations the cost is higher, by the square of the timestep.
    """
    if ceiling <= 1.0 / 6.0:
        optimum = 4.0 / (9.0 * ceiling)
    else:
        optimum = 2.0 + 6.0 * max(0.0, 1.0 - 4.0 * ceiling) ** 2
    errors = []
    for steps in (20, 40, 80):
        model = double_integrator(steps, 1.0, effort=1.0)
        limits = JoinedConstraints(
            [StateBound(0, 1.0, ceiling), *equal_at_the_end(0, 0.0), *equal_at_the_end(1, -1.0)]
        )
        solver = ConstrainedHilqr(model, limits, EXACT, ConstraintOptions(tolerance=1e-8))
        result = solver.solve(np.array([0.0, 1.0]), Policies.zeros(model, steps))
        assert result.status == "converged", result.message
        assert result.trajectory.states[:, 0].max() <= ceiling + 1e-8
        assert np.all(result.multipliers >= 0.0)
        errors.append(result.trajectory.cost - optimum)
    assert np.all(np.abs(errors) < 1e-7) or 3.8 < errors[1] / errors[2] < 4.2


def test_constraints_that_cannot_be_met_are_named():
    model = double_integrator(10, 1.0, effort=1.0)
    limits = JoinedConstraints([StateBound(1, 1.0, 0.3), StateBound(0, -1.0, 2.0, last=True)])
    result = ConstrainedHilqr(model, limits).solve(np.zeros(2), Policies.zeros(model, 10))
    assert result.status == "infeasible" and result.violation.value > 0.5
    assert result.violation[1:] == (10, "state 0")
    assert result.message.startswith("state 0 is violated by") and "knot 10" in result.message


def test_multipliers_are_the_forces_of_the_optimum():
    """Less effort by l for each unit that the end may be nearer: l = dJ / dx_N."""
    model = double_integrator(10, 1.0, effort=1.0)
    costs = []
    for goal in (1.0 - 1e-4, 1.0, 1.0 + 1e-4):
        limit, options = StateBound(0, -1.0, goal, last=True), ConstraintOptions(tolerance=1e-9)
        result = ConstrainedHilqr(model, limit, EXACT, options).solve(
            np.zeros(2), Policies.zeros(model, 10)
        )
        costs.append(result.trajectory.cost)
    assert result.multipliers[-1, 0] == approx((costs[2] - costs[0]) / 2e-4, rel=1e-3)


def test_multipliers_move_with_the_window_and_the_last_knot_keeps_its_own():
    model = double_integrator(3, 1.0, effort=1.0)
    constrained = ConstrainedModel(model, StateBound(0, 1.0, 0.5), penalty=2.0)
    constrained.shift(1)  # before the first window there are none
    moved = {0: [1, 2, 3, 4], 1: [2, 3, 4, 4], 2: [3, 4, 0, 4], 9: [0, 0, 0, 4]}
    for knots, expected in moved.items():
        constrained.multipliers = np.array([[1.0], [2.0], [3.0], [4.0]])
        constrained.shift(knots)
        assert constrained.multipliers[:, 0].tolist() == expected


@pytest.mark.parametrize("wrong", [{"max_rounds": 0}, {"penalty": 0.0}, {"growth": 1.0}])
def test_options_without_a_meaning_are_refused(wrong):
    with pytest.raises(ValueError, match="round"):
        ConstraintOptions(**wrong)
