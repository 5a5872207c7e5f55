"""Growing an RRT* in the biased metric, with constrained edges: B-RRT*, CR-RRT* (2.3.5)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from controller.convergent.rrt.grid import add, near, nearest
from controller.convergent.rrt.growth import (
    DRIED_UP,
    OUT_OF_ITERATIONS,
    REACHED,
    in_goal,
    on_map,
)
from controller.convergent.rrt.star_tree import connect, rewire
from hybrid.filters.draws import uniform

_TURN = 2.0 * np.pi


class StarGrowth(NamedTuple):
    """How a tree grows, as kernels see it."""

    action: float  # [m]
    radius: float  # r [m]
    goal_share: float
    candidates: int
    extra_iterations: int
    max_iterations: int
    patience: int
    key: np.uint64  # of the draws


@njit(cache=True, error_model="numpy")
def grow_star(derivatives, task, growth, metric, tree, grid):
    """Grow a tree until a node is in the goal's square, and then for the extra iterations.

    Returns how it ended and the number of its nodes.
    """
    add(grid, tree.positions, 0)
    count, idle, end = 1, 0, growth.max_iterations
    reached = in_goal(task, tree.positions[0, 0], tree.positions[0, 1])
    if reached:
        end = 0
    stride = 3 + growth.candidates  # draws in an iteration
    iteration = 0
    while iteration < end:
        x, y = sample(task, growth, iteration * stride)
        node = nearest(grid, tree.positions, x, y)
        x, y = extended(task, growth, tree, node, x, y, iteration * stride + 3)
        iteration += 1
        if not joined(derivatives, metric, growth.radius, tree, grid, count, x, y):
            idle += 1
            if idle == growth.patience:
                break
            continue
        idle = 0
        if not reached and in_goal(task, x, y):
            reached, end = True, iteration + growth.extra_iterations
        count += 1
    if reached:
        return REACHED, count
    return DRIED_UP if idle == growth.patience else OUT_OF_ITERATIONS, count


@njit(cache=True, error_model="numpy")
def sample(task, growth, draw):
    """A place drawn uniformly from the map, or now and then the goal."""
    x = task.x_low + (task.x_high - task.x_low) * uniform(growth.key, draw)
    y = task.y_low + (task.y_high - task.y_low) * uniform(growth.key, draw + 1)
    if uniform(growth.key, draw + 2) <= growth.goal_share:
        x = min(max(task.goal_x, task.x_low), task.x_high)
        y = min(max(task.goal_y, task.y_low), task.y_high)
    return x, y


@njit(cache=True, error_model="numpy")
def extended(task, growth, tree, node, x, y, draw):
    """End nearest to (x, y) of steps from a node in random directions; NaN where all leave."""
    best, best_x, best_y = np.inf, np.nan, np.nan
    for number in range(draw, draw + growth.candidates):
        angle = _TURN * uniform(growth.key, number)
        to_x = tree.positions[node, 0] + growth.action * np.cos(angle)
        to_y = tree.positions[node, 1] + growth.action * np.sin(angle)
        away = np.hypot(to_x - x, to_y - y)
        if away < best and on_map(task, to_x, to_y):
            best, best_x, best_y = away, to_x, to_y
    return best_x, best_y


@njit(cache=True, error_model="numpy")
def joined(derivatives, metric, radius, tree, grid, node, x, y):
    """Join a new node at (x, y) to the tree and rewire about it; whether an edge may lead there."""
    if np.isnan(x):
        return False
    tree.positions[node, 0], tree.positions[node, 1] = x, y
    neighbours = near(grid, tree.positions, x, y, radius, tree.found)
    if not connect(derivatives, metric, tree, node, neighbours):
        return False
    rewire(derivatives, metric, tree, node, neighbours)
    add(grid, tree.positions, node)
    return True


@njit(cache=True, error_model="numpy")
def cheapest_in_goal(task, tree, count):
    """Node of the goal's square to which it costs least to come."""
    best = -1
    for node in range(count):
        if in_goal(task, tree.positions[node, 0], tree.positions[node, 1]):
            if best < 0 or tree.costs[node] < tree.costs[best]:
                best = node
    return best
