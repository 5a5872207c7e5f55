"""Growing a kinodynamic RRT with biased and constrained actions, or an RRT* (2.3.5)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from saltation.convergent.rrt.edges import factor
from saltation.convergent.rrt.grid import add, near, nearest
from saltation.convergent.rrt.star_tree import connect, rewire
from saltation.filters.draws import uniform
from saltation.kernels import kernel

REACHED, DRIED_UP, OUT_OF_ITERATIONS = 0, 1, 2
_TURN = 2.0 * np.pi


class Task(NamedTuple):
    """A problem as kernels see it."""

    goal_x: float  # [m]
    goal_y: float
    eta: float
    x_low: float  # of the map [m]
    x_high: float
    y_low: float
    y_high: float
    p_low: float
    p_high: float


class Growth(NamedTuple):
    """Growth of a tree, as kernels see it."""

    action: float  # [m]
    candidates: int
    max_iterations: int
    patience: int
    key: np.uint64  # of the draws
    radius: float  # r of an RRT* [m]; this and what follows are zero for an RRT
    spacing: float  # [m]
    goal_share: float
    extra_iterations: int


@kernel
def in_goal(task, x, y):
    """Whether a place is in the goal's square, (2.21)."""
    return abs(x - task.goal_x) <= task.eta and abs(y - task.goal_y) <= task.eta


@kernel
def on_map(task, x, y):
    """Whether a place is on the map, its edge included."""
    return task.x_low <= x <= task.x_high and task.y_low <= y <= task.y_high


@kernel
def grow(derivatives, task, growth, metric, tree, grid):
    """Grow a tree until a node is in the goal's square, and then for the extra iterations.

    Returns how it ended and the number of its nodes.
    """
    add(grid, tree.positions, 0)
    count, idle, iteration, end = 1, 0, 0, growth.max_iterations
    reached = in_goal(task, tree.positions[0, 0], tree.positions[0, 1])
    if reached:  # nothing costs less than to stay
        end = 0
    own = 3 if growth.radius > 0.0 else 2  # draws of a sample; those of an action follow
    while iteration < end and idle < growth.patience:
        draw = iteration * (own + 2 * growth.candidates)
        x, y = sample(task, growth, draw)
        node = nearest(grid, tree.positions, x, y)
        v_x, v_y, p = best_action(
            derivatives, task, growth, metric, tree.positions, node, x, y, draw + own
        )
        iteration += 1
        idle += 1
        x, y = tree.positions[node, 0] + v_x, tree.positions[node, 1] + v_y
        if (v_x != 0.0 or v_y != 0.0) and joined(
            derivatives, metric, growth, tree, grid, count, node, p, x, y
        ):
            idle = 0
            count += 1
            if not reached and in_goal(task, x, y):
                reached, end = True, iteration + growth.extra_iterations
    if reached:
        return REACHED, count
    return DRIED_UP if idle == growth.patience else OUT_OF_ITERATIONS, count


@kernel
def joined(derivatives, metric, growth, tree, grid, node, parent, power, x, y):
    """Join a new node at (x, y) to the tree, of an RRT* with rewiring; whether it may be there."""
    tree.positions[node, 0], tree.positions[node, 1] = x, y
    if growth.radius > 0.0:
        near_x, near_y = tree.positions[nearest(grid, tree.positions, x, y)]
        if np.hypot(near_x - x, near_y - y) < growth.spacing:
            return False
        neighbours = near(grid, tree.positions, x, y, growth.radius, tree.found)
        if not connect(derivatives, metric, tree, node, neighbours):
            return False
        rewire(derivatives, metric, tree, node, neighbours)
    else:
        tree.parents[node], tree.powers[node] = parent, power
    add(grid, tree.positions, node)
    return True


@kernel
def sample(task, growth, draw):
    """A place drawn uniformly from the map, or now and then the goal."""
    if uniform(growth.key, draw + 2) > growth.goal_share:
        x = task.x_low + (task.x_high - task.x_low) * uniform(growth.key, draw)
        return x, task.y_low + (task.y_high - task.y_low) * uniform(growth.key, draw + 1)
    x = min(max(task.goal_x, task.x_low), task.x_high)
    return x, min(max(task.goal_y, task.y_low), task.y_high)


@kernel
def best_action(derivatives, task, growth, metric, positions, node, x, y, draw):
    """Step (v_x, v_y) [m] and power that end nearest to (x, y) in the biased metric.

    Of steps that stay on the map and keep the constraint; the step is zero where there is none.
    """
    from_x, from_y = positions[node, 0], positions[node, 1]
    h = derivatives(from_x, from_y)
    best, step_x, step_y, power = np.inf, 0.0, 0.0, 0.0
    for number in range(draw, draw + 2 * growth.candidates, 2):
        angle = _TURN * uniform(growth.key, number)
        p = task.p_low + (task.p_high - task.p_low) * uniform(growth.key, number + 1)
        c, s = np.cos(angle), np.sin(angle)
        to_x, to_y = from_x + growth.action * c, from_y + growth.action * s
        if on_map(task, to_x, to_y):
            away = np.hypot(to_x - x, to_y - y) * factor(h, metric, c, s, p)
            if away < best:
                best, step_x, step_y, power = away, growth.action * c, growth.action * s, p
    return step_x, step_y, power


@kernel
def cheapest_in_goal(task, tree, count):
    """Node of the goal's square to which it costs least to come."""
    best = -1
    for node in range(count):
        if in_goal(task, tree.positions[node, 0], tree.positions[node, 1]):
            if best < 0 or tree.costs[node] < tree.costs[best]:
                best = node
    return best
