"""The solver's promises: expected reduction, damping, statuses, and no bad candidate accepted."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from saltation.hilqr import Hilqr, HilqrOptions, Policies, RegularisationOptions, backward_pass
from saltation.hilqr.cost import QuadraticCost
from saltation.hilqr.event_driven import EventDrivenModel
from tests.saltation.smooth_models import PENDULUM

STEPS, X0 = 40, np.array([0.3, 0.0])


class Pendulum(EventDrivenModel):
    """It is to swing up to 2 rad in 2 s."""

    poison = False  # answer NaN, or the lowest cost, for steps of two sizes

    def __init__(self):
        weights = np.diag([0.02, 0.0]), 0.01 * np.eye(1), np.diag([10.0, 1.0])
        super().__init__(PENDULUM, 0, 0.05, QuadraticCost(np.array([2.0, 0.0]), *weights))
        self.counts = []  # candidates of each call

    def roll_out(self, x0, policies):
        self.counts.append(len(policies.step_size))
        rollouts = super().roll_out(x0, policies)
        if self.poison:
            rollouts.cost[policies.step_size == 1.0] = np.nan
            rollouts.cost[policies.step_size == 0.7] = -np.inf
        return rollouts


@pytest.fixture
def model():
    return Pendulum()


def seed(step_sizes=(1.0,)):
    shapes = (STEPS + 1, 2), (STEPS, 1), (STEPS, 1, 2)
    return Policies.of(*map(np.zeros, shapes), step_sizes=step_sizes)


def test_expected_change_is_the_actual_one_to_first_order(model):
    errors = []
    for step_size in (1e-2, 1e-3, 1e-4):
        solver = Hilqr(model, HilqrOptions(step_sizes=(step_size,)))
        step = solver.iterate(X0, solver.start(X0, seed()))
        assert step.status == "improved"
        errors.append(abs(step.ratio - 1.0))
    assert errors[2] < 1e-3
    assert errors[1] < 0.2 * errors[0] and errors[2] < 0.2 * errors[1]


def test_solve_descends_until_it_converges_and_tells_of_each_iteration(model):
    seen = []
    solution = Hilqr(model).solve(X0, seed(), seen.append)
    assert solution.status == "converged" and solution.iterations == len(seen)
    costs = [step.trajectory.cost for step in seen]
    assert all(after <= before for before, after in zip(costs, costs[1:], strict=False))


@pytest.mark.parametrize("target", ["state", "input", "both"])
def test_damping_shortens_the_step_and_keeps_descent(model, target):
    norms = []
    for mu in (0.0, 1e-2, 1.0, 100.0):
        damping = RegularisationOptions(target=target, initial=mu)
        solver = Hilqr(model, HilqrOptions(step_sizes=(1e-3,), regularisation=damping))
        step = solver.iterate(X0, solver.start(X0, seed()))
        assert step.status == "improved" and step.mu == mu
        assert step.backward.linear < 0.0 and step.actual_change < 0.0
        norms.append(np.linalg.norm(step.backward.feedforward))
    assert norms[0] > norms[1] > norms[2] > norms[3]


def test_indefinite_input_hessian_is_a_status_that_names_its_knot(model):
    solver = Hilqr(model)
    trajectory = solver.start(X0, seed())
    linear = model.linearise(trajectory)
    cost = model.quadratise(trajectory)
    cost.l_uu[7] = -1e6
    assert backward_pass(linear, cost).failed_knot == 7
    cost.l_uu[7] = np.nan
    assert backward_pass(linear, cost).failed_knot == 7
    assert backward_pass(linear, cost, mu_input=1e8).failed_knot == 7


def test_candidates_that_are_not_finite_are_never_accepted(model):
    solver = Hilqr(model)
    trajectory = solver.start(X0, seed())
    model.poison = True
    for _ in range(5):
        step = solver.iterate(X0, trajectory)
        assert step.step_size not in (1.0, 0.7)
        trajectory = step.trajectory
        assert np.isfinite(trajectory.cost)
    solver = Hilqr(model, HilqrOptions(step_sizes=(1.0, 0.7)))
    assert solver.iterate(X0, trajectory).status == "rejected"
    failed = solver.solve(X0, seed(step_sizes=(1.0, 0.7)))
    assert failed.status == "failed" and failed.trajectory is None


def test_a_late_iteration_searches_with_fewer_candidates_and_is_the_last(model):
    """Time is up before the third line search, which is made all the same."""
    asked, counts = [], []

    def deadline():
        asked.append(None)
        return len(asked) > 2

    def keep(step):
        counts.append(np.isfinite(step.costs).sum())
        assert step.status == "improved" and step.step_size > 0.0

    options = HilqrOptions(step_sizes=(1.0, 0.5, 0.2, 0.05))
    solution = Hilqr(model, options).solve(X0, seed(), on_iteration=keep, out_of_time=deadline)
    assert solution.status == "out_of_time" and counts == [4, 4, 2] and len(asked) == 3


@pytest.mark.parametrize("at_once", [1, 2, 3, 4])
@pytest.mark.parametrize(
    "search, ratio, tries",
    [("backtracking", 1e-9, 1), ("two_stage", 1e-9, 2),
     ("backtracking", 1e9, 4), ("two_stage", 1e9, 4)],
)  # fmt: skip
def test_a_search_ends_at_the_first_step_that_keeps_its_promise(
    model, search, ratio, tries, at_once
):
    """However many candidates are rolled out at once."""
    sizes = (1.0, 0.5, 0.2, 0.05)
    options = HilqrOptions(
        step_sizes=sizes, line_search=search, sufficient_ratio=ratio, at_once=at_once
    )
    solver, exhaustive = Hilqr(model, options), Hilqr(model, HilqrOptions(step_sizes=sizes))
    start = solver.start(X0, seed())
    best = exhaustive.iterate(X0, start)
    model.counts.clear()
    step = solver.iterate(X0, start)
    assert np.isfinite(step.costs).tolist() == [True] * tries + [False] * (4 - tries)
    assert_array_equal(step.costs[:tries], best.costs[:tries])
    assert step.trajectory.cost == step.costs[step.candidate] == step.costs.min() < start.cost
    assert_array_equal(step.trajectory.states[0], X0)
    assert tries < 4 or step.candidate == best.candidate
    once = at_once if search == "backtracking" else 4 if at_once == 4 else 2
    assert sum(model.counts) == 4 if tries == 4 else model.counts == [once]


def test_an_iteration_that_gains_less_than_enough_is_the_last(model):
    start = Hilqr(model).start(X0, seed())
    one = HilqrOptions(enough=1.0, sufficient_ratio=10.0)
    last = list(Hilqr(model, one).iterations(X0, start))
    assert len(last) == 1 and last[0].status == "improved"
    steps = list(Hilqr(model, HilqrOptions(enough=1e-3)).iterations(X0, start))
    costs = np.array([start.cost, *(step.trajectory.cost for step in steps)])
    gains = -np.diff(costs) / costs[:-1]
    assert gains[-1] < 1e-3 < gains[:-1].min()


@pytest.mark.parametrize("tried", [4, 3, 2, 0])
def test_steps_that_promise_less_than_enough_are_not_tried(model, tried):
    sizes = (1.0, 0.5, 0.2, 0.05)
    start = Hilqr(model).start(X0, seed())
    promises = [-Hilqr(model).iterate(X0, start).backward.expected_change(size) for size in sizes]
    most = 10.0 * promises[tried - 1] * (0.99 if tried else 40.0)
    options = HilqrOptions(
        step_sizes=sizes,
        enough=most / start.cost,
        line_search="backtracking",
        sufficient_ratio=10.0,
    )
    step = Hilqr(model, options).iterate(X0, start)
    assert step.status == ("improved" if tried else "converged")
    assert tried == (0 if step.costs is None else np.isfinite(step.costs).sum())
