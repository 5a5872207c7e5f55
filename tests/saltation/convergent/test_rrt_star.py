"""The tree of an RRT*: what its nodes cost, and that rewiring only ever lowers it."""

import numpy as np
import pytest
from pytest import approx

from saltation.convergent.hill import SINE_HILL
from saltation.convergent.hill_path import HillProblem
from saltation.convergent.power_controller import divergence_metrics, jacobian, velocity
from saltation.convergent.rrt import RrtStarOptions
from saltation.convergent.rrt.planners import grown as grown_tree

POWERS = np.array([0.0, 1.0, 2.0])
ENDS = {"start": np.array([0.0, 1.0]), "goal": np.array([0.3, 1.2])}


def grown(convergence="none", **changes):
    options = RrtStarOptions(**{"extra_iterations": 2000, "seed": 2} | changes)
    problem = HillProblem(**ENDS, convergence=convergence)
    tree, count, _ = grown_tree(problem, options, POWERS)
    return tree, count, options


def pieces(start, end, longest):
    """Where the equal pieces of an edge begin, their length and the edge's direction."""
    length = np.hypot(*(end - start))
    count = int(np.ceil(length / longest))
    direction = (end - start) / length
    return start + np.arange(count)[:, None] * direction * length / count, length / count, direction


def metrics(places, direction, p, alpha_one):
    _, h_x, h_y, *second = SINE_HILL.at(*places.T)
    speed = np.hypot(*velocity(h_x, h_y, 0.0, 1.0, p)) if alpha_one else 1.0
    return divergence_metrics(*jacobian(h_x, h_y, *second, *(speed * direction[:, None]), p))


def least_cost(start, end, convergence, options):
    """Of an edge, and the power that has it; by way of metrics at every piece."""
    at, length, direction = pieces(start, end, options.action)
    costs = []
    for p in POWERS:
        average, _ = metrics(at, direction, p, options.bias_at == "unit_alpha")
        kept = convergence == "none" or np.all(average < 0.0)
        costs.append(np.sum(length * np.exp(options.bias * average)) if kept else np.inf)
    return min(costs), POWERS[np.argmin(costs)]


@pytest.mark.parametrize("convergence", ["none", "average"])
@pytest.mark.parametrize("bias_at", ["unit_alpha", "unit_speed"])
def test_costs_are_those_of_the_way_from_the_start(convergence, bias_at):
    tree, count, options = grown(convergence, bias_at=bias_at, extra_iterations=500)
    assert count > 300 and tree.costs[0] == 0.0 and tree.parents[0] == -1
    for node in range(1, count):
        parent = tree.parents[node]
        assert tree.costs[node] == tree.costs[parent] + tree.edges[node]
        start, end = tree.positions[parent], tree.positions[node]
        assert np.hypot(*(end - start)) <= options.rewire * (1 + 1e-12)
        cost, power = least_cost(start, end, convergence, options)
        assert tree.powers[node] == power
        assert tree.edges[node] == approx(cost, rel=1e-9)
