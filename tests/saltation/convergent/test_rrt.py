"""RRTs on a hill: their paths keep what they must, and a bias makes them converge more."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from saltation.convergent.hill_path import HillProblem
from saltation.convergent.path_check import step_divergence, violation
from saltation.convergent.rrt import RrtOptions, RrtStarOptions, plan_rrt, plan_rrt_star

OPTIONS = RrtOptions()
FAR = {"start": np.array([-0.2, 0.8]), "goal": np.array([0.3, 1.0])}


@pytest.mark.parametrize("bias_at", ["unit_alpha", "unit_speed"])
def test_steps_have_their_length_and_a_bias_makes_them_converge_more(bias_at):
    problem, rates = HillProblem(**FAR), []
    for bias in (0.0, 1.5):
        options = [RrtOptions(bias=bias, bias_at=bias_at, seed=seed) for seed in range(12)]
        paths = [plan_rrt(problem, each) for each in options]
        for path in paths:
            assert_allclose(np.hypot(*np.diff(path.positions.T)), OPTIONS.action)
        assert np.mean([len(path.powers) for path in paths]) < 40  # 20 would be straight
        rates.append(np.mean([step_divergence(problem, path)[0].mean() for path in paths]))
    assert rates[1] < 1.2 * rates[0] < 0.0


@pytest.mark.parametrize("plan", [plan_rrt, plan_rrt_star])
@pytest.mark.parametrize("convergence", ["none", "average"])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_path_keeps_what_the_problem_asks(plan, convergence, seed):
    options = {plan_rrt: RrtOptions(seed=seed), plan_rrt_star: RrtStarOptions(seed=seed)}[plan]
    problem = HillProblem(**FAR, convergence=convergence)
    path = plan(problem, options)
    assert path.ok, path.message
    assert violation(problem, path) == ""
    if convergence == "average":
        assert np.all(step_divergence(problem, path)[0] < 0.0)


def test_the_seed_decides_and_nothing_else():
    problem = HillProblem(**FAR)
    first, other = plan_rrt(problem, OPTIONS), plan_rrt(problem, replace(OPTIONS, seed=1))
    with ThreadPoolExecutor(2) as pool:
        again = list(pool.map(lambda _: plan_rrt(problem, OPTIONS), range(4)))
    assert all(np.array_equal(path.positions, first.positions) for path in again)
    assert first.positions.shape != other.positions.shape or np.any(
        first.positions != other.positions
    )


@pytest.mark.parametrize("plan", [plan_rrt, plan_rrt_star])
def test_what_cannot_be_is_a_status(plan):
    options = {plan_rrt: RrtOptions, plan_rrt_star: RrtStarOptions}[plan]
    assert plan(HillProblem([9.0, 1.0], [0.0, 1.0])).status == "start_outside"
    assert plan(HillProblem([0.0, 1.0], [0.0, 9.0])).status == "goal_outside"

    short = plan(HillProblem(**FAR), options(max_iterations=20))
    assert short.status == "iteration_limit" and "max_iterations 20" in short.message
    assert "waypoint" in short.message and len(short.positions) == 0

    strict = plan(HillProblem(**FAR, convergence="average"), options(max_iterations=20))
    assert strict.status == "iteration_limit" and "D_a < 0" in strict.message

    level = HillProblem(**FAR, convergence="maximum", powers=(1.0, 1.0))  # Lemma 1: never
    dry = plan(level, options(patience=100))
    assert dry.status == "infeasible" and "D_m < 0" in dry.message
    assert "waypoint 0 at (-0.2, 0.8)" in dry.message
