"""A grid of square buckets over the map: the nearest node of a tree, and those within a radius."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from saltation.arrays import Integers
from saltation.convergent.hill import Hill
from saltation.kernels import kernel

_MOST = 1_000_000  # buckets, about


class Grid(NamedTuple):
    """Lists of nodes by bucket; node k is at positions[k] of the tree."""

    first: Integers  # (columns, rows) a node in the bucket, -1 where there is none
    following: Integers  # (capacity,) the next node in the same bucket, -1 at the end
    used: Integers  # (4,) lowest and highest column, lowest and highest row with nodes
    x_low: float  # corner of the map [m]
    y_low: float
    side: float  # of a bucket [m]


def empty_grid(hill: Hill, side: float, capacity: int) -> Grid:
    """A grid without nodes over a hill's map; buckets have the side [m], on a vast map a longer."""
    (x_low, x_high), (y_low, y_high) = hill.x_bounds, hill.y_bounds
    width, height = x_high - x_low, y_high - y_low
    side = max(side, np.sqrt(width * height / _MOST), max(width, height) / _MOST)
    columns = int(np.ceil(width / side)) + 1  # one more: the map's far edge is on it
    rows = int(np.ceil(height / side)) + 1
    used = np.array([columns, -1, rows, -1], np.int64)
    first = np.full((columns, rows), -1, np.int64)
    following = np.full(capacity, -1, np.int64)
    return Grid(first, following, used, float(x_low), float(y_low), float(side))


@kernel
def bucket(grid, x, y):
    """Column and row of the bucket that holds a place of the map."""
    return int((x - grid.x_low) / grid.side), int((y - grid.y_low) / grid.side)


@kernel
def add(grid, positions, node):
    """Put a node of the tree into its bucket."""
    column, row = bucket(grid, positions[node, 0], positions[node, 1])
    grid.following[node] = grid.first[column, row]
    grid.first[column, row] = node
    grid.used[0], grid.used[1] = min(grid.used[0], column), max(grid.used[1], column)
    grid.used[2], grid.used[3] = min(grid.used[2], row), max(grid.used[3], row)


@kernel
def nearest(grid, positions, x, y):
    """Node nearest to a place of the map, -1 where there is none.

    Buckets are looked at in square rings about the place's own; in the k-th ring no node is
    nearer than k - 1 sides.
    """
    column, row = bucket(grid, x, y)
    west, east, south, north = grid.used
    ring = max(0, west - column, column - east, south - row, row - north)  # none is nearer
    last = max(column - west, east - column, row - south, north - row)
    best, square = np.int64(-1), np.inf
    while ring <= last:
        if ring > 1 and square <= ((ring - 1) * grid.side) ** 2:
            break
        for c in range(max(west, column - ring), min(east, column + ring) + 1):
            step = 1 if abs(c - column) == ring else 2 * ring
            for r in range(row - ring, row + ring + 1, step):
                if south <= r <= north:
                    best, square = _nearer(grid, positions, c, r, x, y, best, square)
        ring += 1
    return best


@kernel
def _nearer(grid, positions, column, row, x, y, best, square):
    """The nearest so far and its squared distance, after a look into one more bucket."""
    node = grid.first[column, row]
    while node >= 0:
        away = (positions[node, 0] - x) ** 2 + (positions[node, 1] - y) ** 2
        if away < square:
            best, square = node, away
        node = grid.following[node]
    return best, square


@kernel
def near(grid, positions, x, y, radius, found):
    """Fill ``found`` with the nodes within a radius of a place; returns how many they are."""
    west, south = bucket(grid, max(x - radius, grid.x_low), max(y - radius, grid.y_low))
    east, north = bucket(grid, x + radius, y + radius)
    count = 0
    for c in range(west, min(east, grid.used[1]) + 1):
        for r in range(south, min(north, grid.used[3]) + 1):
            node = grid.first[c, r]
            while node >= 0:
                if (positions[node, 0] - x) ** 2 + (positions[node, 1] - y) ** 2 <= radius**2:
                    found[count] = node
                    count += 1
                node = grid.following[node]
    return count
