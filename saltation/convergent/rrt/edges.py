"""Edges of an RRT*: their cost in the biased metric, and the power that makes it least."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from saltation.convergent.rrt.metrics import divergence, keeps, scaled
from saltation.kernels import kernel
from saltation.systems import Array


class Metric(NamedTuple):
    """Cost of an edge, as kernels see it."""

    convergence: int  # number in metrics.CONVERGENCES
    piece: float  # an edge is looked at every so far at most [m]
    bias: float  # b
    unit_alpha: float  # as in metrics.scaled
    powers: Array  # (k,) to choose from
    sums: Array  # (k,) scratch


@kernel
def edge(derivatives, metric, from_x, from_y, to_x, to_y, budget):
    """Least cost [m] of going straight, and the power that has it.

    The edge is cut into equal pieces. A piece costs its length times e^(b D_a), and D_a is that at
    its beginning; the constraint is asked there too. The cost is infinite where no power keeps it,
    and where it would come to the budget or more.
    """
    length = np.hypot(to_x - from_x, to_y - from_y)
    pieces = max(1, int(np.ceil(length / metric.piece)))
    c, s, piece = (to_x - from_x) / length, (to_y - from_y) / length, length / pieces
    for k in range(len(metric.powers)):
        metric.sums[k] = 0.0
    least = 0.0
    for i in range(pieces):
        h = derivatives(from_x + i * piece * c, from_y + i * piece * s)
        least = np.inf
        for k in range(len(metric.powers)):
            metric.sums[k] += piece * factor(h, metric, c, s, metric.powers[k])
            least = min(least, metric.sums[k])
        if least >= budget:
            return np.inf, 0.0
    for k in range(len(metric.powers)):
        if metric.sums[k] == least:
            return least, metric.powers[k]
    return np.inf, 0.0  # not a number: the ground is level


@kernel
def factor(h, metric, c, s, p):
    """By which a piece's length is scaled: e^(b D_a), infinite where p breaks the constraint."""
    average, maximum = divergence(h, c, s, p)
    if not keeps(metric.convergence, average, maximum):
        return np.inf
    return scaled(h, metric.bias, metric.unit_alpha, average, p)
