"""The solver's promises: expected reduction, damping, statuses, and no bad candidate accepted."""

import numpy as np
import pytest

from hybrid.hilqr import (
    CostExpansion,
    Hilqr,
    HilqrOptions,
    Linearisation,
    Policies,
    RegularisationOptions,
    backward_pass,
)
from tests.hybrid.double_integrator import StepByStep


class Pendulum(StepByStep):
    """Smooth nonlinear system: semi-implicit Euler pendulum, with a cost that is not quadratic."""

    steps, dt = 40, 0.05
    x0 = np.array([0.3, 0.0])
    poison = False  # answer NaN, with the lowest cost, for every full step
    hessian = 1.0  # factor on the input Hessian

    def step(self, x, u):
        velocity = x[1] + self.dt * (-9.81 * np.sin(x[0]) + u[0])
        return np.array([x[0] + self.dt * velocity, velocity])

    def cost(self, x, u):
        running = np.sum(np.cosh(x[:, 0] - 2.0)) * self.dt
        return running + 10.0 * (x[-1, 0] - 2.0) ** 2 + x[-1, 1] ** 2 + 0.01 * np.sum(u**2)

    def roll_out(self, x0, policies):
        rollouts = super().roll_out(x0, policies)
        if self.poison:
            rollouts.cost[policies.step_size == 1.0] = np.nan
            rollouts.cost[policies.step_size == 0.7] = -np.inf
        return rollouts

    def linearise(self, trajectory):
        A, B = np.empty((self.steps, 2, 2)), np.empty((self.steps, 2, 1))
        for k in range(self.steps):
            slope = -9.81 * np.cos(trajectory.states[k, 0]) * self.dt
            A[k] = [[1.0 + self.dt * slope, self.dt], [slope, 1.0]]
            B[k] = [[self.dt**2], [self.dt]]
        return Linearisation(A, B)

    def quadratise(self, trajectory):
        x, u, N = trajectory.states, trajectory.inputs, self.steps
        l_x, l_xx = np.zeros((N + 1, 2)), np.zeros((N + 1, 2, 2))
        l_x[:, 0] = np.sinh(x[:, 0] - 2.0) * self.dt
        l_xx[:, 0, 0] = np.cosh(x[:, 0] - 2.0) * self.dt
        l_x[-1] += [20.0 * (x[-1, 0] - 2.0), 2.0 * x[-1, 1]]
        l_xx[-1] += np.diag([20.0, 2.0])
        l_uu = np.full((N, 1, 1), 0.02 * self.hessian)
        return CostExpansion(l_x, 0.02 * u, l_xx, np.zeros((N, 1, 2)), l_uu)

    def seed(self, step_sizes=(1.0,)):
        return Policies.of(
            np.zeros((self.steps + 1, 2)),
            np.zeros((self.steps, 1)),
            np.zeros((self.steps, 1, 2)),
            step_sizes=step_sizes,
        )


def test_expected_change_is_the_actual_one_to_first_order():
    model = Pendulum()
    errors = []
    for step_size in (1e-2, 1e-3, 1e-4):
        solver = Hilqr(model, HilqrOptions(step_sizes=(step_size,)))
        step = solver.iterate(model.x0, solver.start(model.x0, model.seed()))
        assert step.status == "improved"
        errors.append(abs(step.ratio - 1.0))
    assert errors[2] < 1e-3
    assert errors[1] < 0.2 * errors[0] and errors[2] < 0.2 * errors[1]


def test_solve_reaches_a_stationary_point():
    model = Pendulum()
    seen = []
    solution = Hilqr(model).solve(model.x0, model.seed(), seen.append)
    assert solution.status == "converged" and solution.iterations == len(seen)
    costs = [step.trajectory.cost for step in seen]
    assert all(after <= before for before, after in zip(costs, costs[1:], strict=False))
    inputs = solution.trajectory.inputs

    def cost(u):
        policies = Policies.of(solution.trajectory.states, u, np.zeros((model.steps, 1, 2)))
        return model.roll_out(model.x0, policies).cost[0]

    for k in (0, 13, model.steps - 1):
        bump = np.zeros_like(inputs)
        bump[k] = 1e-5
        assert abs(cost(inputs + bump) - cost(inputs - bump)) / 2e-5 < 1e-2


@pytest.mark.parametrize("target", ["state", "input", "both"])
def test_damping_shortens_the_step_and_keeps_descent(target):
    model = Pendulum()
    norms = []
    for mu in (0.0, 1e-2, 1.0, 100.0):
        damping = RegularisationOptions(target=target, initial=mu)
        solver = Hilqr(model, HilqrOptions(step_sizes=(1e-3,), regularisation=damping))
        step = solver.iterate(model.x0, solver.start(model.x0, model.seed()))
        assert step.status == "improved" and step.mu == mu
        assert step.backward.linear < 0.0 and step.actual_change < 0.0
        norms.append(np.linalg.norm(step.backward.feedforward))
    assert norms[0] > norms[1] > norms[2] > norms[3]


def test_indefinite_input_hessian_is_a_status_that_names_its_knot():
    model = Pendulum()
    solver = Hilqr(model)
    trajectory = solver.start(model.x0, model.seed())
    linear = model.linearise(trajectory)
    cost = model.quadratise(trajectory)
    cost.l_uu[7] = -1e6
    assert backward_pass(linear, cost).failed_knot == 7
    cost.l_uu[7] = np.nan
    assert backward_pass(linear, cost).failed_knot == 7
    assert backward_pass(linear, cost, mu_input=1e8).failed_knot == 7


def test_candidates_that_are_not_finite_are_never_accepted():
    model = Pendulum()
    solver = Hilqr(model)
    trajectory = solver.start(model.x0, model.seed())
    model.poison = True
    for _ in range(5):
        step = solver.iterate(model.x0, trajectory)
        assert step.step_size not in (1.0, 0.7)
        trajectory = step.trajectory
        assert np.isfinite(trajectory.cost)
    solver = Hilqr(model, HilqrOptions(step_sizes=(1.0, 0.7)))
    assert solver.iterate(model.x0, trajectory).status == "rejected"
    failed = solver.solve(model.x0, model.seed(step_sizes=(1.0, 0.7)))
    assert failed.status == "failed" and failed.trajectory is None


def test_a_late_iteration_searches_with_fewer_candidates_and_is_the_last():
    """Time is up before the third line search, which is made all the same."""
    model = Pendulum()
    asked, counts = [], []

    def deadline():
        asked.append(None)
        return len(asked) > 2

    def keep(step):
        counts.append(np.isfinite(step.costs).sum())
        assert step.status == "improved" and step.step_size > 0.0

    options = HilqrOptions(step_sizes=(1.0, 0.5, 0.2, 0.05))
    solution = Hilqr(model, options).solve(
        model.x0, model.seed(), on_iteration=keep, out_of_time=deadline
    )
    assert solution.status == "out_of_time" and counts == [4, 4, 2] and len(asked) == 3


@pytest.mark.parametrize(
    ("search", "ratio", "tries"),
    [("backtracking", 1e-9, 1), ("two_stage", 1e-9, 2),
     ("backtracking", 1e9, 4), ("two_stage", 1e9, 4)],
)  # fmt: skip
def test_a_search_ends_at_the_first_step_that_keeps_its_promise(search, ratio, tries):
    model, sizes = Pendulum(), (1.0, 0.5, 0.2, 0.05)
    options = HilqrOptions(step_sizes=sizes, line_search=search, sufficient_ratio=ratio)
    solver, exhaustive = Hilqr(model, options), Hilqr(model, HilqrOptions(step_sizes=sizes))
    seed = solver.start(model.x0, model.seed())
    step, best = solver.iterate(model.x0, seed), exhaustive.iterate(model.x0, seed)
    assert np.isfinite(step.costs).tolist() == [True] * tries + [False] * (4 - tries)
    np.testing.assert_array_equal(step.costs[:tries], best.costs[:tries])
    assert step.trajectory.cost == step.costs[step.candidate] == step.costs.min() < seed.cost
    assert tries < 4 or step.candidate == best.candidate


def test_an_iteration_that_gains_less_than_enough_is_the_last():
    model = Pendulum()
    seed = Hilqr(model).start(model.x0, model.seed())
    last = list(Hilqr(model, HilqrOptions(enough=1.0)).iterations(model.x0, seed))
    assert len(last) == 1 and last[0].status == "improved"
    steps = list(Hilqr(model, HilqrOptions(enough=1e-3)).iterations(model.x0, seed))
    costs = np.array([seed.cost, *(step.trajectory.cost for step in steps)])
    gains = -np.diff(costs) / costs[:-1]
    assert gains[-1] < 1e-3 < gains[:-1].min()
