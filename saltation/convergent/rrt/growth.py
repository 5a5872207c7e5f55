"""Growing a kinodynamic RRT with biased and constrained actions: KD-RRT, B-RRT, CR-RRT (2.3.5)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from saltation.convergent.rrt.grid import add, nearest
from saltation.convergent.rrt.metrics import divergence, keeps, scaled
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
    convergence: int  # number in metrics.CONVERGENCES


class Growth(NamedTuple):
    """Growth of a tree, as kernels see it."""

    action: float  # [m]
    bias: float  # b
    unit_alpha: float  # as in metrics.scaled
    candidates: int
    max_iterations: int
    patience: int
    key: np.uint64  # of the draws


@kernel
def in_goal(task, x, y):
    """Whether a place is in the goal's square, (2.21)."""
    return abs(x - task.goal_x) <= task.eta and abs(y - task.goal_y) <= task.eta


@kernel
def on_map(task, x, y):
    """Whether a place is on the map, its edge included."""
    return task.x_low <= x <= task.x_high and task.y_low <= y <= task.y_high


@kernel
def grow(derivatives, task, growth, tree, grid):
    """Grow a tree from its first node until a node is in the goal's square.

    Returns how it ended and the number of its nodes; the last of them is in the goal if REACHED.
    """
    positions = tree.positions
    add(grid, positions, 0)
    count, idle = 1, 0
    if in_goal(task, positions[0, 0], positions[0, 1]):
        return REACHED, count
    stride = 2 + 2 * growth.candidates  # draws in an iteration
    for iteration in range(growth.max_iterations):
        draw = iteration * stride
        x, y = sample(task, growth.key, draw)
        node = nearest(grid, positions, x, y)
        v_x, v_y, p = best_action(derivatives, task, growth, positions, node, x, y, draw + 2)
        if v_x == 0.0 and v_y == 0.0:
            idle += 1
            if idle == growth.patience:
                return DRIED_UP, count
            continue
        idle = 0
        positions[count, 0], positions[count, 1] = (
            positions[node, 0] + v_x,
            positions[node, 1] + v_y,
        )
        tree.parents[count], tree.powers[count] = node, p
        add(grid, positions, count)
        count += 1
        if in_goal(task, positions[count - 1, 0], positions[count - 1, 1]):
            return REACHED, count
    return OUT_OF_ITERATIONS, count


@kernel
def sample(task, key, draw):
    """A place drawn uniformly from the map."""
    x = task.x_low + (task.x_high - task.x_low) * uniform(key, draw)
    return x, task.y_low + (task.y_high - task.y_low) * uniform(key, draw + 1)


@kernel
def best_action(derivatives, task, growth, positions, node, x, y, draw):
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
        average, maximum = divergence(h, c, s, p)
        if on_map(task, to_x, to_y) and keeps(task.convergence, average, maximum):
            away = np.hypot(to_x - x, to_y - y)
            away *= scaled(h, growth.bias, growth.unit_alpha, average, p)
            if away < best:
                best, step_x, step_y, power = away, growth.action * c, growth.action * s, p
    return step_x, step_y, power
