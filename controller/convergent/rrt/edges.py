"""Edges of an RRT*: their cost in the biased metric, and the power that makes it least."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from controller.convergent.rrt.metrics import divergence, keeps
from hybrid.systems import Array


class Metric(NamedTuple):
    """What an edge costs, as kernels see it."""

    convergence: int  # number in metrics.CONVERGENCES
    piece: float  # an edge is looked at every so far at most [m]
    weight: float  # of D_a of a robot of unit speed, in the exponent [m]
    powers: Array  # (k,) to choose from
    sums: Array  # (k,) scratch


@njit(cache=True, error_model="numpy")
def edge(derivatives, metric, from_x, from_y, to_x, to_y):
    """Least cost [m] of going straight, and the power that has it.

    The edge is cut into equal pieces. A piece costs its length times e^(b D_a), and D_a is that at
    its beginning; the constraint is asked there too. The cost is infinite where no power keeps it.
    """
    length = np.hypot(to_x - from_x, to_y - from_y)
    pieces = max(1, int(np.ceil(length / metric.piece)))
    c, s, piece = (to_x - from_x) / length, (to_y - from_y) / length, length / pieces
    for k in range(len(metric.powers)):
        metric.sums[k] = 0.0
    for i in range(pieces):
        h = derivatives(from_x + i * piece * c, from_y + i * piece * s)
        for k in range(len(metric.powers)):
            if metric.sums[k] < np.inf:
                average, maximum = divergence(h, c, s, metric.powers[k])
                kept = keeps(metric.convergence, average, maximum)
                metric.sums[k] += piece * np.exp(metric.weight * average) if kept else np.inf
    best = 0
    for k in range(1, len(metric.powers)):
        if metric.sums[k] < metric.sums[best]:
            best = k
    return metric.sums[best], metric.powers[best]
