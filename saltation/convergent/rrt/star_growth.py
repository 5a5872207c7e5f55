"""Growing an RRT* in the biased metric, with constrained edges: B-RRT*, CR-RRT* (2.3.5)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from saltation.convergent.rrt.grid import add, near, nearest
from saltation.convergent.rrt.growth import (
    DRIED_UP,
    OUT_OF_ITERATIONS,
    REACHED,
    best_action,
    in_goal,
    sample,
)
from saltation.convergent.rrt.star_tree import connect, rewire
from saltation.filters.draws import uniform
from saltation.kernels import kernel


class Star(NamedTuple):
    """State of an RRT* beside a tree's growth, as kernels see it."""

    radius: float  # r [m]
    spacing: float  # [m]
    goal_share: float
    extra_iterations: int


@kernel
def grow_star(derivatives, task, growth, star, metric, tree, grid):
    """Grow a tree until a node is in the goal's square, and then for the extra iterations.

    Returns how it ended and the number of its nodes.
    """
    add(grid, tree.positions, 0)
    count, idle, iteration, end = 1, 0, 0, growth.max_iterations
    reached = in_goal(task, tree.positions[0, 0], tree.positions[0, 1])
    if reached:  # nothing costs less than to stay
        end = 0
    stride = 3 + 2 * growth.candidates  # draws in an iteration
    while iteration < end and idle < growth.patience:
        x, y = sample_or_goal(task, star, growth.key, iteration * stride)
        node = nearest(grid, tree.positions, x, y)
        v_x, v_y, _ = best_action(
            derivatives, task, growth, tree.positions, node, x, y, iteration * stride + 3
        )
        iteration += 1
        idle += 1
        x, y = tree.positions[node, 0] + v_x, tree.positions[node, 1] + v_y
        if (v_x != 0.0 or v_y != 0.0) and joined(
            derivatives, metric, star, tree, grid, count, x, y
        ):
            idle = 0
            count += 1
            if not reached and in_goal(task, x, y):
                reached, end = True, iteration + star.extra_iterations
    if reached:
        return REACHED, count
    return DRIED_UP if idle == growth.patience else OUT_OF_ITERATIONS, count


@kernel
def sample_or_goal(task, star, key, draw):
    """A place drawn uniformly from the map, or now and then the goal."""
    if uniform(key, draw + 2) > star.goal_share:
        return sample(task, key, draw)
    x = min(max(task.goal_x, task.x_low), task.x_high)
    return x, min(max(task.goal_y, task.y_low), task.y_high)


@kernel
def joined(derivatives, metric, star, tree, grid, node, x, y):
    """Join a new node at (x, y) to the tree and rewire about it; whether it may be there."""
    near_x, near_y = tree.positions[nearest(grid, tree.positions, x, y)]
    if np.hypot(near_x - x, near_y - y) < star.spacing:
        return False
    tree.positions[node, 0], tree.positions[node, 1] = x, y
    neighbours = near(grid, tree.positions, x, y, star.radius, tree.found)
    if not connect(derivatives, metric, tree, node, neighbours):
        return False
    rewire(derivatives, metric, tree, node, neighbours)
    add(grid, tree.positions, node)
    return True


@kernel
def cheapest_in_goal(task, tree, count):
    """Node of the goal's square to which it costs least to come."""
    best = -1
    for node in range(count):
        if in_goal(task, tree.positions[node, 0], tree.positions[node, 1]):
            if best < 0 or tree.costs[node] < tree.costs[best]:
                best = node
    return best
