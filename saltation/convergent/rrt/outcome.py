"""Result of a grown tree: the path to a node, or the reason why there is none."""

from __future__ import annotations

import numpy as np

from saltation.convergent.hill_path import HillPath, HillProblem, no_path
from saltation.convergent.rrt.growth import DRIED_UP
from saltation.convergent.rrt.options import RrtOptions
from saltation.convergent.rrt.star_tree import StarTree

_CONSTRAINTS = {"none": "map and slope", "average": "D_a < 0, (2.23)", "maximum": "D_m < 0, (2.22)"}


def path_to(tree: StarTree, node: int) -> HillPath:
    """From the start to a node."""
    nodes = _way(tree, node)
    return HillPath("ok", tree.positions[nodes], tree.powers[nodes[1:]])


def _way(tree: StarTree, node: int) -> list[int]:
    nodes = [node]
    while tree.parents[nodes[-1]] >= 0:
        nodes.append(int(tree.parents[nodes[-1]]))
    return nodes[::-1]


def no_way(
    problem: HillProblem,
    options: RrtOptions,
    ending: int,
    tree: StarTree,
    count: int,
) -> HillPath:
    """The reason why there is no path, and the tree's least distance from the goal."""
    away = np.hypot(*(tree.positions[:count] - problem.goal).T)
    node = int(np.argmin(away))
    x, y = tree.positions[node]
    waypoint = len(_way(tree, node)) - 1
    came = f"waypoint {waypoint} at ({x:g}, {y:g}) came nearest, {away[node]:.3g} m from the goal"
    constraint = _CONSTRAINTS[problem.convergence]
    if ending == DRIED_UP:
        told = (
            f"{constraint}: no action of {options.patience} iterations in a row kept it,"
            f" the tree has {count} nodes"
        )
        return no_path("infeasible", f"{told}; {came}")
    told = f"raise max_iterations {options.max_iterations}"
    if problem.convergence != "none":
        told += f", or {constraint}, leaves no way"
    return no_path("iteration_limit", f"{told}; {came}")
