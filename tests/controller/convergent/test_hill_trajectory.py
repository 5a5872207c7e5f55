"""T-OPT on a hill: constraints found anew, optimality, closed forms, seeds, and failures."""

import numpy as np
import pytest

from controller.convergent.evaluation import evaluate
from controller.convergent.hill import SINE_HILL, Hill
from controller.convergent.hill_path import HillPath, HillProblem
from controller.convergent.hill_seeds import resampled, seeds
from controller.convergent.hill_trajectory import HillTrajectory
from controller.convergent.hill_transcription import SHORTEST, TrajectoryOptions
from controller.convergent.path_check import step_divergence, violation
from controller.convergent.power_controller import divergence_metrics, jacobian

ENDS = [([-1.2, 0.4], [1.1, 1.9]), ([1.5, 2.0], [-0.5, 0.3]), ([0.2, 1.0], [0.9, 1.2])]
REACHABLE = ([-0.305, 1.577], [-0.842, 0.526])  # with D_m < 0 all the way
PLANNERS: dict = {}


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
@pytest.mark.parametrize(("start", "goal"), ENDS)
def test_constraints_hold_and_uncertainty_shrinks(start, goal, convergence):
    problem = HillProblem(start, goal, convergence)
    path = planner(convergence).solve(problem)
    assert path.ok, path.message
    assert len(path.positions) == 50 and len(path.powers) == 49
    assert violation(problem, path) == "" and problem.reached(path.positions[-1])
    np.testing.assert_allclose(path.positions[0], start, atol=1e-9)
    average, _ = step_divergence(problem, path)
    assert convergence == "none" or np.all(average < 0.0)
    straight = HillPath("ok", np.linspace(start, goal, 50), np.ones(49))
    assert evaluate(problem, path).area_ratio < 0.8 * evaluate(problem, straight).area_ratio


@pytest.mark.parametrize(("start", "goal"), ENDS)
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
    np.testing.assert_allclose(path.positions[-1], end, atol=1e-6)
    np.testing.assert_allclose(path.positions, np.linspace(problem.start, end, 100), atol=1e-6)
    np.testing.assert_array_equal(path.powers, 1.0)


def test_strict_convergence_where_there_is_some():
    """D_m < 0 at every waypoint; then no point of a small circle gets farther away."""
    problem = HillProblem(*REACHABLE, "maximum")
    path = planner("maximum").solve(problem)
    assert path.ok, path.message
    assert np.all(step_divergence(problem, path)[1] < 0.0)
    assert evaluate(problem, path).distance_ratio < 1.0


def test_both_ends():
    """The constraint holds where a step begins and where it ends."""
    problem = HillProblem(*ENDS[0], "average")
    path = planner("average", both_ends=True).solve(problem)
    at = SINE_HILL.at(*path.positions[1:].T)
    ends = divergence_metrics(*jacobian(*at[1:], *path.velocities.T, path.powers))[0]
    assert path.ok and np.all(ends < 0.0) and np.all(step_divergence(problem, path)[0] < 0.0)


def test_margin_and_longest_step_are_kept():
    options = {"margin": 0.05, "max_step": 0.06}
    problem = HillProblem(*ENDS[0], "average")
    path = planner("average", **options).solve(problem)
    assert path.ok and np.max(np.abs(path.velocities)) <= 0.06 + 1e-7
    assert np.max(step_divergence(problem, path)[0]) * 49 <= -0.05 + 1e-6


def test_the_best_of_three_starts_and_a_seed_alone():
    """Here the straight line and both bows lead to three different optima."""
    problem = HillProblem([1.56, 1.39], [1.2, 2.39])
    each = [
        planner().solve(problem, HillPath("ok", positions, powers))
        for positions, powers in seeds(problem, 50)
    ]
    costs = [cost(path, planner().options) for path in each]
    assert all(path.ok and not path.message for path in each)
    assert min(abs(a - b) for a, b in zip(costs, costs[1:] + costs[:1], strict=True)) > 1e-3
    best = cost(planner().solve(problem), planner().options)
    assert best == pytest.approx(min(costs), rel=1e-6)


def test_the_optimum_without_the_constraint_is_a_start_too():
    """Here it leads farther down than the line and the bows."""
    problem = HillProblem([-1.677, 1.006], [0.405, 0.363], "average")
    found = planner("average").solve(problem)
    alone = [
        planner("average").solve(problem, HillPath("ok", positions, powers))
        for positions, powers in seeds(problem, 50)
    ]
    costs = [cost(path, planner().options) for path in alone if path.ok]
    assert found.ok and violation(problem, found) == "" and len(costs) == 3
    assert cost(found, planner().options) < min(costs) - 0.01


def test_a_seed_is_cut_at_even_distances():
    corner = HillPath("ok", np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0.5, 1.5]))
    positions, powers = resampled(corner, 5)
    np.testing.assert_allclose(positions, [[0, 0], [0.5, 0], [1, 0], [1, 0.5], [1, 1]], atol=1e-12)
    np.testing.assert_array_equal(powers, [0.5, 0.5, 1.5, 1.5])
    first, second, third = seeds(HillProblem([0.0, 1.0], [1.0, 1.0]), 3)
    np.testing.assert_allclose(
        [s[0][1] for s in (first, second, third)], [[0.5, 1], [0.5, 1.5], [0.5, 0.5]]
    )


@pytest.mark.parametrize(
    ("start", "goal", "status", "said"),
    [
        ([-2.1, 1.0], [0.0, 1.0], "start_outside", r"start \(-2.1, 1\) is outside the map"),
        ([0.0, 1.0], [0.0, 2.6], "goal_outside", r"goal \(0, 2.6\) is outside the map"),
    ],
)
def test_outside_the_map(start, goal, status, said):
    import re

    path = planner().solve(HillProblem(start, goal))
    assert path.status == status and re.match(said, path.message) and len(path.positions) == 0


def test_infeasible_names_the_constraint_and_the_waypoint():
    """Strict convergence cannot cross a line of zero curvature."""
    path = planner("maximum", max_iterations=60).solve(HillProblem(*ENDS[0], "maximum"))
    assert path.status in ("infeasible", "iteration_limit")
    assert path.message.startswith("D_m < 0 (2.22) at waypoint")


def test_a_goal_that_all_steps_together_do_not_reach():
    """19 steps of 0.1 m; what is to be raised is said, and not what IPOPT missed on its way."""
    options = TrajectoryOptions(waypoints=20)
    path = HillTrajectory("none", options).solve(HillProblem([-2.0, 0.0], [2.0, 2.5]))
    assert path.status == "infeasible" and len(path.positions) == 0
    assert "waypoint 19 is at the goal, 3.95 m away: raise waypoints" in path.message
    near = HillProblem([-1.0, 1.0], [0.9, 1.0], eta=1e-3)
    assert HillTrajectory("none", options).solve(near).ok


def test_on_a_plane_nothing_converges():
    """The gradient felt is the same everywhere: D_a = 0, and D_a < 0 has no solution."""
    plane = Hill(
        "plane", lambda x, y: (x + 2.0 * y, 1.0 + 0.0 * x, 2.0, 0.0, 0.0, 0.0), (0, 4), (0, 4)
    )
    options = TrajectoryOptions(waypoints=10, dt=300.0, max_step=1.0)
    path = HillTrajectory("average", options, plane).solve(
        HillProblem([1.0, 1.0], [3.0, 3.0], "average", hill=plane)
    )
    assert path.status == "infeasible" and "D_a" in path.message and "waypoint" in path.message


def test_a_level_place_is_a_status():
    """Without a gradient the controller has no direction."""
    bowl = Hill("bowl", lambda x, y: (x * x + y * y, 2 * x, 2 * y, 2.0, 0.0, 2.0), (-1, 1), (-1, 1))
    path = HillTrajectory("none", TrajectoryOptions(waypoints=10), bowl).solve(
        HillProblem([0.0, 0.0], [0.5, 0.5], hill=bowl)
    )
    assert path.status == "infeasible" and "level at the start (0, 0)" in path.message


def test_a_planner_for_another_problem_is_refused():
    with pytest.raises(ValueError, match="convergence 'none', the problem asks 'average'"):
        planner().solve(HillProblem(*ENDS[0], "average"))
    other = Hill("other", SINE_HILL.derivatives, (0, 1), (0, 1))
    with pytest.raises(ValueError, match="the hill 'sine hill', not this one"):
        planner().solve(HillProblem(*ENDS[0], hill=other))
    with pytest.raises(ValueError, match="the seed has no path"):
        planner().solve(
            HillProblem(*ENDS[0]), HillPath("infeasible", np.zeros((0, 2)), np.zeros(0))
        )


@pytest.mark.parametrize(
    "options",
    [
        {"waypoints": 2}, {"waypoints": 3.5}, {"max_iterations": 0}, {"dt": 0.0}, {"dt": np.inf},
        {"sigma": -1.0}, {"rho": np.nan}, {"margin": 0.0}, {"epsilon": np.nan},
    ],
)  # fmt: skip
def test_options_out_of_range(options):
    with pytest.raises(ValueError, match="give"):
        TrajectoryOptions(**options)


@pytest.mark.parametrize(
    "asked",
    [{"eta": 0.0}, {"eta": np.inf}, {"powers": (0.0, np.inf)}, {"powers": (2.0, 1.0)},
     {"goal": [np.nan, 1.0]}, {"start": [1.0]}, {"convergence": "both"}],
)  # fmt: skip
def test_problems_out_of_range(asked):
    with pytest.raises(ValueError, match=next(iter(asked))):
        HillProblem(**({"start": [0.0, 1.0], "goal": [1.0, 1.0]} | asked))
