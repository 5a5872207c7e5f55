"""Bounds of inputs in the backward pass, against direct methods and augmented Lagrangian."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import approx

import saltation as sa
from saltation.examples.bouncing_ball import FALLING, bouncing_ball
from saltation.hilqr import Box, backward_pass
from tests.saltation.rollouts import open_loop
from tests.saltation.smooth_models import POINT, best_bounded_inputs, double_integrator
from tests.saltation.test_hilqr_riccati import DAMPINGS, assert_same, problem, written_out

EXACT = sa.HilqrOptions(tolerance=1e-12, max_iterations=100)


def bounds(most):
    return sa.InputBounds(np.array([-most]), np.array([most]))


@pytest.mark.parametrize("mu", DAMPINGS)
def test_value_and_gains_are_those_of_the_bounded_policy(mu):
    """The recursion written out, with the inputs that are clamped left out of the gains."""
    linear, cost = problem()
    draw, met = np.random.default_rng(2), []
    box = Box(draw.uniform(-0.3, 0.1, (9, 3)), draw.uniform(0.1, 0.3, (9, 3)))
    found = backward_pass(linear, cost, *mu, box=box)

    def bounded(k, H, Q_u, Y):
        du, K = found.feedforward[k], found.gains[k]
        slope, at_low, at_high = Q_u + H @ du, du == box.low[k], du == box.high[k]
        free = ~at_low & ~at_high
        assert np.all((du >= box.low[k]) & (du <= box.high[k]))
        assert np.all(slope[at_low] > 0.0) and np.all(slope[at_high] < 0.0)
        assert_allclose(slope[free], 0.0, atol=1e-9)
        assert np.all(K[~free] == 0.0)
        assert_allclose(H[np.ix_(free, free)] @ K[free], -Y[free], atol=1e-9)
        met.append(np.sum(~free))
        return du, K

    assert_same(found, written_out(linear.A, linear.B, cost, *mu, bounded))
    assert 0 < sum(met) < 27


@pytest.mark.parametrize("seed", range(5))
def test_a_bounded_regulator_is_a_quadratic_program(seed):
    draw = np.random.default_rng(seed)
    goal, effort = draw.uniform(0.5, 3.0), draw.uniform(0.01, 0.1)
    model = double_integrator(15, 1.5, effort=effort, pull=5.0, goal=goal)
    low, high, x0 = draw.uniform(-2.0, -0.5), draw.uniform(0.5, 2.0), draw.normal(size=2)
    limits = sa.InputBounds(np.array([low]), np.array([high]))
    zeros = sa.Policies.zeros(model, 15)
    result = sa.Hilqr(model, EXACT, limits).solve(x0, zeros)
    inputs, cost = best_bounded_inputs(model, 15, x0, low, high)
    assert result.status == "converged", result.message
    assert limits.low <= result.trajectory.inputs.min()
    assert result.trajectory.inputs.max() <= limits.high
    assert np.allclose(result.trajectory.inputs[:, 0], inputs, atol=1e-6)
    assert result.trajectory.cost == approx(cost, rel=1e-9)
    options = sa.ConstraintOptions(tolerance=1e-8)
    lagrangian = sa.ConstrainedHilqr(model, limits, EXACT, options).solve(x0, zeros)
    assert lagrangian.status == "converged", lagrangian.message
    assert np.allclose(lagrangian.trajectory.inputs[:, 0], inputs, atol=1e-5)
    assert lagrangian.trajectory.cost == approx(cost, rel=1e-6)
    assert result.iterations <= lagrangian.iterations


def test_feedback_is_clamped_through_impacts():
    system, steps = bouncing_ball(restitution=0.8), 60
    cost = sa.QuadraticCost.reaching(np.array([1.0, 0.0]), 1e-3 * np.eye(1), 100.0 * np.eye(2))
    model = sa.EventDrivenModel(system, FALLING, 0.02, cost)
    draw = np.random.default_rng(0)
    policies = sa.Policies.of(
        draw.normal(size=(steps + 1, 2)), draw.normal(size=(steps, 1)),
        5.0 * draw.normal(size=(steps, 1, 2)),
    )  # fmt: skip
    limited = sa.InputBounds(np.array([-1.0]), np.array([2.5]))
    seed = replace(policies, bounds=limited)
    rollouts = model.roll_out(np.array([2.0, 0.0]), seed)
    states, inputs = rollouts.states[0], rollouts.inputs[0]
    asked = policies.inputs[0] + np.einsum(
        "kij,kj->ki", policies.gains[0], states[:-1] - policies.states[0, :-1]
    )
    assert rollouts.ok[0] and rollouts.aux[0].events
    assert_allclose(inputs, np.clip(asked, -1.0, 2.5), rtol=1e-9, atol=1e-9)
    assert set(np.unique(inputs)) >= {-1.0, 2.5}
    assert seed.join(policies).bounds is limited
    result = sa.Hilqr(model, sa.HilqrOptions(max_iterations=5), limited).solve(
        np.array([2.0, 0.0]), policies
    )
    assert limited.hold(result.trajectory.inputs)
    assert result.trajectory.cost <= rollouts.cost[0]


def test_a_model_that_does_not_clamp_is_refused():
    class Unlimited(sa.EventDrivenModel):
        def roll_out(self, x0, policies):
            return super().roll_out(x0, replace(policies, bounds=None))

    model = Unlimited(POINT, 0, 0.1, double_integrator(10, 1.0, 1.0).cost)
    seed = open_loop(np.full((10, 1), 3.0))
    with pytest.raises(ValueError, match=r"Unlimited.roll_out leaves the input bounds"):
        sa.Hilqr(model, EXACT, bounds(1.0)).solve(np.zeros(2), seed)


@pytest.mark.parametrize(
    "low, high", [([0.0, 2.0], [1.0, 1.0]), ([0.0], [1.0, 2.0]), ([np.nan], [1.0])]
)
def test_bounds_that_nothing_meets_are_refused(low, high):
    with pytest.raises(ValueError, match="bounds"):
        sa.InputBounds(np.array(low), np.array(high))
