"""T-OPT on a hill: constraints found anew, optimality, closed forms, seeds, and failures."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from saltation.convergent.evaluation import evaluate
from saltation.convergent.hill_path import HillPath, HillProblem
from saltation.convergent.hill_trajectory import HillTrajectory
from saltation.convergent.hill_transcription import SHORTEST, TrajectoryOptions
from saltation.convergent.path_check import step_divergence, violation

ENDS = [([-1.2, 0.4], [1.1, 1.9]), ([1.5, 2.0], [-0.5, 0.3]), ([0.2, 1.0], [0.9, 1.2])]
REACHABLE = ([-0.305, 1.577], [-0.842, 0.526])  # with D_m < 0 all the way
PLANNERS = {}


def planner(convergence="none", **options):
    """Planners are built once."""
    key = (convergence, *sorted(options.items()))
    if key not in PLANNERS:
        PLANNERS[key] = HillTrajectory(
            convergence, TrajectoryOptions(waypoints=50, dt=60.0, **options)
        )
    return PLANNERS[key]


def cost(path, options):
    """J of (2.18), (2.19), without the planner's own code."""
    problem = HillProblem(path.positions[0], path.positions[-1])
    average, maximum = (metric / options.dt for metric in step_divergence(problem, path))
    v = path.velocities / options.dt
    J_Da = options.sigma * average.sum()
    J_Dm = options.nu * np.maximum(maximum, -options.epsilon).sum()
    J_accel = options.gamma * np.sum(np.diff(v, axis=0) ** 2)
    return (J_Da + J_Dm + J_accel + options.rho * np.sum(v**2)) / options.steps


@pytest.mark.parametrize("convergence", ["none", "average"])
@pytest.mark.parametrize("start, goal", ENDS)
def test_constraints_hold_and_uncertainty_shrinks(start, goal, convergence):
    problem = HillProblem(start, goal, convergence)
    path = planner(convergence).solve(problem)
    assert path.ok, path.message
    assert len(path.positions) == 50 and len(path.powers) == 49
    assert violation(problem, path) == "" and problem.reached(path.positions[-1])
    assert_allclose(path.positions[0], start, atol=1e-9)
    average, _ = step_divergence(problem, path)
    assert convergence == "none" or np.all(average < 0.0)
    straight = HillPath("ok", np.linspace(start, goal, 50), np.ones(49))
    assert evaluate(problem, path).area_ratio < 0.8 * evaluate(problem, straight).area_ratio


@pytest.mark.parametrize("start, goal", ENDS)
def test_it_is_a_local_optimum(start, goal):
    """No small change that keeps start, end and bounds lowers J by more than rounding."""
    path, options = planner().solve(HillProblem(start, goal)), planner().options
    best, rng = cost(path, options), np.random.default_rng(1)
    share = np.linspace(0.0, 1.0, 50)[:, None]
    changes = []
    for _ in range(60):
        bend = sum(rng.normal(size=2) / k * np.sin(k * np.pi * share) for k in range(1, 6))
        positions = np.clip(path.positions + 1e-3 * bend, (-2.0, 0.0), (2.0, 2.5))
        powers = np.clip(path.powers + 1e-2 * rng.normal(size=49), 0.0, 2.0)
        changes.append(cost(HillPath("ok", positions, powers), options) - best)
    assert min(changes) > -1e-7 * abs(best)
    line = HillPath("ok", np.linspace(start, path.positions[-1], 50), np.ones(49))
    assert best < cost(line, options)


def test_the_shortest_path_is_straight_to_the_nearest_point_of_the_goal():
    problem = HillProblem([-1.0, 0.5], [1.0, 1.0], powers=(1.0, 1.0))
    path = HillTrajectory("none", SHORTEST).solve(problem)
    end = np.array([0.95, 0.95])  # a corner of the goal's square
    assert_allclose(path.positions[-1], end, atol=1e-6)
    assert_allclose(path.positions, np.linspace(problem.start, end, 100), atol=1e-6)
    assert_array_equal(path.powers, 1.0)


def test_strict_convergence_where_there_is_some():
    """D_m < 0 at every waypoint; then no point of a small circle gets farther away."""
    problem = HillProblem(*REACHABLE, "maximum")
    path = planner("maximum").solve(problem)
    assert path.ok, path.message
    assert np.all(step_divergence(problem, path)[1] < 0.0)
    assert evaluate(problem, path).distance_ratio < 1.0


def test_infeasible_names_the_constraint_and_the_waypoint():
    """Strict convergence cannot cross a line of zero curvature."""
    path = planner("maximum", max_iterations=60).solve(HillProblem(*ENDS[0], "maximum"))
    assert path.status in ("infeasible", "iteration_limit")
    assert path.message.startswith("D_m < 0 (2.22) at waypoint")
