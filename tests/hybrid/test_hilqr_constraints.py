"""Inequality constraints: closed forms, a quadratic program, and derivatives by differences."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from hybrid.hilqr import (
    CostExpansion,
    HilqrOptions,
    Linearisation,
    Policies,
    Rollouts,
    Trajectory,
)
from hybrid.hilqr.constrained import ConstrainedHilqr, ConstraintOptions
from hybrid.hilqr.bounds import InputBounds
from hybrid.hilqr.constraints import ConstrainedModel, JoinedConstraints

EXACT = HilqrOptions(tolerance=1e-12, max_iterations=100)


class DoubleIntegrator:
    """A point [x, v] under an acceleration that is constant in a timestep.

    Cost: the sum of effort * dt * u^2 / 2, and pull * (x_N - goal)^2 / 2.
    """

    state_dim, input_dim = 2, 1

    def __init__(self, steps, duration, effort=0.0, pull=0.0, goal=0.0):
        self.dt = duration / steps
        self.A = np.array([[1.0, self.dt], [0.0, 1.0]])
        self.B = np.array([[0.5 * self.dt**2], [self.dt]])
        self.steps, self.effort, self.pull, self.goal = steps, effort, pull, goal

    def roll_out(self, x0, policies):
        C = policies.count
        x, u = np.empty((C, self.steps + 1, 2)), np.empty((C, self.steps, 1))
        for c, (p, a) in enumerate(zip(policies.policy_index, policies.step_size, strict=True)):
            x[c, 0] = x0
            for k in range(self.steps):
                change = policies.gains[p, k] @ (x[c, k] - policies.states[p, k])
                u[c, k] = policies.inputs[p, k] + a * policies.feedforward[p, k] + change
                x[c, k + 1] = self.A @ x[c, k] + self.B @ u[c, k]
        cost = 0.5 * self.effort * self.dt * np.sum(u**2, axis=(1, 2))
        cost += 0.5 * self.pull * (x[:, -1, 0] - self.goal) ** 2
        return Rollouts(x, u, cost, np.isfinite(cost))

    def linearise(self, trajectory):
        A, B = (np.tile(matrix, (self.steps, 1, 1)) for matrix in (self.A, self.B))
        return Linearisation(A, B)

    def quadratise(self, trajectory):
        N = self.steps
        l_x, l_xx = np.zeros((N + 1, 2)), np.zeros((N + 1, 2, 2))
        l_x[-1, 0] = self.pull * (trajectory.states[-1, 0] - self.goal)
        l_xx[-1, 0, 0] = self.pull
        weight = self.effort * self.dt
        l_u, l_uu = weight * trajectory.inputs, np.full((N, 1, 1), weight)
        return CostExpansion(l_x, l_u, l_xx, np.zeros((N, 1, 2)), l_uu)


class StateBound:
    """sign * (x[index] - bound) <= 0 at the last knot, or at all of them."""

    def __init__(self, index, sign, bound, last=False):
        self.index, self.sign, self.bound, self.last = index, sign, bound, last
        self.names = [f"state {index}"]

    def values(self, states, inputs):
        excess = self.sign * (states[:, :, [self.index]] - self.bound)
        if self.last:
            excess[:, :-1] = -np.inf
        return excess

    def jacobians(self, states, inputs):
        c_x = np.zeros((len(states), 1, states.shape[1]))
        c_x[:, 0, self.index] = self.sign
        return c_x, np.zeros((len(inputs), 1, inputs.shape[1]))


def equal_at_the_end(index, value):
    return [StateBound(index, sign, value, last=True) for sign in (1.0, -1.0)]


def test_farthest_motion_from_rest_to_rest_is_bang_bang():
    """|u| <= 1: u = 1 and then -1 comes T^2/4 far."""
    model = DoubleIntegrator(40, 2.0, effort=1e-6, pull=1.0, goal=2.0)
    bounds = InputBounds(np.array([-1.0]), np.array([1.0]))
    limits = JoinedConstraints([bounds, *equal_at_the_end(1, 0.0)])
    options = ConstraintOptions(tolerance=1e-7)
    result = ConstrainedHilqr(model, limits, EXACT, options).solve(
        np.zeros(2), Policies.zeros(model, 40)
    )
    assert result.status == "converged", result.message
    u = result.trajectory.inputs[:, 0]
    assert np.allclose(u, np.repeat([1.0, -1.0], 20), atol=1e-5)
    assert result.trajectory.states[-1, 0] == pytest.approx(1.0, abs=1e-5)


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
        model = DoubleIntegrator(steps, 1.0, effort=1.0)
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


@pytest.mark.parametrize("seed", range(5))
def test_bounded_inputs_are_those_of_a_quadratic_program(seed):
    draw = np.random.default_rng(seed)
    steps, goal = 15, draw.uniform(0.5, 3.0)
    model = DoubleIntegrator(steps, 1.5, effort=draw.uniform(0.01, 0.1), pull=5.0, goal=goal)
    low, high = draw.uniform(-2.0, -0.5), draw.uniform(0.5, 2.0)
    bounds = InputBounds(np.array([low]), np.array([high]))
    x0 = draw.normal(size=2)
    result = ConstrainedHilqr(model, bounds, EXACT, ConstraintOptions(tolerance=1e-8)).solve(
        x0, Policies.zeros(model, steps)
    )
    assert result.status == "converged", result.message
    # x_N = free + row u, and the cost is a sum of squares.
    free, row = x0.copy(), np.zeros((2, steps))
    for k in range(steps):
        free, row = model.A @ free, model.A @ row
        row[:, k] += model.B[:, 0]
    stack = np.vstack((np.sqrt(model.effort * model.dt) * np.eye(steps), np.sqrt(5.0) * row[:1]))
    right = np.append(np.zeros(steps), np.sqrt(5.0) * (goal - free[0]))
    direct = lsq_linear(stack, right, (low, high), tol=1e-14)
    assert np.allclose(result.trajectory.inputs[:, 0], direct.x, atol=1e-5)
    assert result.trajectory.cost == pytest.approx(direct.cost, rel=1e-6)


def test_expansion_is_that_of_the_augmented_cost():
    draw = np.random.default_rng(0)
    model = DoubleIntegrator(6, 1.0, effort=0.3, pull=2.0, goal=1.0)
    limits = JoinedConstraints(
        [InputBounds(np.array([-0.5]), np.array([0.5])), StateBound(0, 1.0, 0.1)]
    )
    constrained = ConstrainedModel(model, limits, penalty=3.0)
    constrained.multipliers = draw.uniform(0.0, 1.0, (7, 3))
    x, u = draw.normal(size=(7, 2)), draw.normal(size=(6, 1))

    def cost(x, u):
        value = 0.15 * model.dt * np.sum(u**2)
        value += 0.5 * model.pull * (x[-1, 0] - 1.0) ** 2
        c = limits.values(x[None], u[None])[0]
        force = np.maximum(0.0, constrained.multipliers + 3.0 * c)
        return value + np.sum(force**2 - constrained.multipliers**2) / 6.0

    expansion = constrained.quadratise(Trajectory(x, u, 0.0))
    h = 1e-6
    for k in range(7):
        for i in range(2):
            step = np.zeros_like(x)
            step[k, i] = h
            assert (cost(x + step, u) - cost(x - step, u)) / (2 * h) == pytest.approx(
                expansion.l_x[k, i], abs=1e-7
            )
        if k < 6:
            step = np.zeros_like(u)
            step[k, 0] = h
            assert (cost(x, u + step) - cost(x, u - step)) / (2 * h) == pytest.approx(
                expansion.l_u[k, 0], abs=1e-7
            )


def test_constraints_that_cannot_be_met_are_named():
    model = DoubleIntegrator(10, 1.0, effort=1.0)
    bounds = InputBounds(np.array([-1.0]), np.array([1.0]))
    limits = JoinedConstraints([bounds, StateBound(0, -1.0, 2.0, last=True)])
    result = ConstrainedHilqr(model, limits).solve(np.zeros(2), Policies.zeros(model, 10))
    assert result.status == "infeasible" and "is violated by" in result.message
    assert result.violation.value > 0.5
