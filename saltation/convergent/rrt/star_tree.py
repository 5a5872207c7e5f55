"""The tree of an RRT, or RRT*: costs of its nodes, and rewiring that keeps them right."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from saltation.arrays import Integers
from saltation.convergent.rrt.edges import edge
from saltation.kernels import kernel
from saltation.systems import Array


class StarTree(NamedTuple):
    """Nodes with what it costs to come to them; the first is the start."""

    positions: Array  # (capacity, 2) [m]
    parents: Integers  # (capacity,) -1 at the start
    powers: Array  # (capacity,) p on the way from the parent
    costs: Array  # (capacity,) [m] from the start: the parent's, plus that of the edge
    edges: Array  # (capacity,) [m] from the parent
    child: Integers  # (capacity,) one of its children, -1 where it has none
    sibling: Integers  # (capacity,) the parent's next child, -1 after the last
    found: Integers  # (capacity,) scratch: the neighbours of a place
    opened: Integers  # (capacity,) scratch: nodes whose children's costs are to be set


def star_tree(start: Array, capacity: int) -> StarTree:
    """A tree of the start alone."""
    positions = np.empty((capacity, 2))
    positions[0] = start
    powers, costs, edges = np.zeros((3, capacity))
    parents, child, sibling, found, opened = np.full((5, capacity), -1, np.int64)
    return StarTree(positions, parents, powers, costs, edges, child, sibling, found, opened)


@kernel
def connect(derivatives, metric, tree, node, neighbours):
    """Give a new node the parent from which it costs least to come; whether there is one.

    ``neighbours`` are how many of ``tree.found`` may be the parent.
    """
    x, y = tree.positions[node]
    tree.costs[node] = np.inf
    for i in range(neighbours):
        near = tree.found[i]
        spare = tree.costs[node] - tree.costs[near]
        if spare <= 0.0:  # an edge only adds to it
            continue
        from_x, from_y = tree.positions[near]
        cost, power = edge(derivatives, metric, from_x, from_y, x, y, spare)
        if tree.costs[near] + cost < tree.costs[node]:
            tree.costs[node], tree.edges[node] = tree.costs[near] + cost, cost
            tree.parents[node], tree.powers[node] = near, power
    if tree.costs[node] == np.inf:
        return False
    tree.sibling[node] = tree.child[tree.parents[node]]
    tree.child[tree.parents[node]] = node
    return True


@kernel
def rewire(derivatives, metric, tree, node, neighbours):
    """Make a node the parent of those neighbours to which it costs less to come through it."""
    x, y = tree.positions[node]
    for i in range(neighbours):
        near = tree.found[i]
        spare = tree.costs[near] - tree.costs[node]
        if spare <= 0.0:  # so that no ancestor becomes a child
            continue
        to_x, to_y = tree.positions[near]
        cost, power = edge(derivatives, metric, x, y, to_x, to_y, spare)
        if tree.costs[node] + cost < tree.costs[near]:
            _detach(tree, near)
            tree.parents[near], tree.powers[near], tree.edges[near] = node, power, cost
            tree.sibling[near] = tree.child[node]
            tree.child[node] = near
            _spread(tree, near)


@kernel
def _detach(tree, node):
    """Take a node out of the list of its parent's children."""
    parent = tree.parents[node]
    if tree.child[parent] == node:
        tree.child[parent] = tree.sibling[node]
        return
    other = tree.child[parent]
    while tree.sibling[other] != node:
        other = tree.sibling[other]
    tree.sibling[other] = tree.sibling[node]


@kernel
def _spread(tree, node):
    """Set the costs of a node with a new parent and of all that come after it."""
    tree.opened[0] = node
    count = 1
    while count > 0:
        count -= 1
        here = tree.opened[count]
        tree.costs[here] = tree.costs[tree.parents[here]] + tree.edges[here]
        child = tree.child[here]
        while child >= 0:
            tree.opened[count] = child
            count += 1
            child = tree.sibling[child]
