"""RRTs on a hill: their paths keep what they must, and are those of the method in plain Python."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from controller.convergent import power_controller
from controller.convergent.hill import SINE_HILL
from controller.convergent.hill_path import HillProblem
from controller.convergent.path_check import step_divergence, violation
from controller.convergent.rrt import RrtOptions, RrtStarOptions, plan_rrt, plan_rrt_star
from hybrid.filters.draws import python_subkey, uniform

OPTIONS = RrtOptions()
FAR = {"start": np.array([-0.2, 0.8]), "goal": np.array([0.3, 1.0])}
NEAR = {"start": np.array([0.35, 1.75]), "goal": np.array([0.5, 1.9])}


def divergence_at(position, direction, p, speed=1.0):
    """(D_a, D_m) of going there with a speed."""
    _, *hill = SINE_HILL.at(*position)
    jacobian = power_controller.jacobian(*hill, *(speed * direction), p)
    return power_controller.divergence_metrics(*jacobian)


def bias_of(options, position, direction, p):
    """e^(b D_a) with D_a at alpha = 1 or at unit speed."""
    _, h_x, h_y, *_ = SINE_HILL.at(*position)
    speed = 1.0
    if options.bias_at == "unit_alpha":  # of a robot that turns by any theta, here 0.3
        speed = np.hypot(*power_controller.velocity(h_x, h_y, 0.3, 1.0, p))
    return np.exp(options.bias * divergence_at(position, direction, p, speed)[0])


def plain_rrt(problem, options):
    """The method of 2.3.5 with the same draws, nothing of it compiled: all positions reached."""
    key, number = python_subkey(np.uint64(0), options.seed), iter(range(10**9))
    (x_low, x_high), (y_low, y_high) = problem.hill.x_bounds, problem.hill.y_bounds
    low, high = np.array([x_low, y_low]), np.array([x_high, y_high])
    nodes = [np.array(problem.start)]
    while not problem.reached(nodes[-1]):
        drawn = np.array([uniform(key, next(number)) for _ in range(2 + 2 * options.candidates)])
        asked = low + (high - low) * drawn[:2]
        near = nodes[int(np.argmin([np.hypot(*(asked - n)) for n in nodes]))]
        best = []
        for angle, share in drawn[2:].reshape(-1, 2):
            p = problem.powers[0] + np.ptp(problem.powers) * share
            direction = np.array([np.cos(2 * np.pi * angle), np.sin(2 * np.pi * angle)])
            end = near + options.action * direction
            average, maximum = divergence_at(near, direction, p)
            worst = {"none": -1.0, "average": average, "maximum": maximum}[problem.convergence]
            if worst < 0.0 and problem.hill.holds(end):
                away = np.hypot(*(end - asked)) * bias_of(options, near, direction, p)
                best.append((away, tuple(end)))
        if best:
            nodes.append(np.array(min(best)[1]))
    return np.array(nodes)


@pytest.mark.parametrize(
    ("convergence", "changes"),
    [
        ("none", {"bias": 0.0}),  # KD-RRT
        ("none", {}),
        ("none", {"bias_at": "unit_speed"}),
        ("average", {}),
        ("maximum", {}),
    ],
)
def test_it_is_the_method_in_plain_python(convergence, changes):
    problem = HillProblem(**NEAR, convergence=convergence)
    options = RrtOptions(action=0.05, candidates=4, seed=3, **changes)
    path = plan_rrt(problem, options)
    nodes = plain_rrt(problem, options)
    assert path.ok
    np.testing.assert_allclose(path.positions[-1], nodes[-1], rtol=0.0, atol=1e-12)
    for position in path.positions:
        assert np.min(np.abs(nodes - position).max(axis=1)) < 1e-12


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
