"""Starts of trajectory optimisation on a hill: a straight line, bows, or any path."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from saltation.arrays import Pair
from saltation.convergent.hill_path import HillPath, HillProblem

_BOWS = (0.0, 0.5, -0.5)  # height of the bow over the line's length; zero is the straight line


def seeds(problem: HillProblem, waypoints: int) -> Iterator[Pair]:
    """Positions (N, 2) [m] and powers (N - 1,): a straight line, then a bow to either side.

    All have the middle of the powers' interval; what leaves the map is brought to its edge.
    """
    share = np.linspace(0.0, 1.0, waypoints)[:, None]
    line = problem.start + share * (problem.goal - problem.start)
    across = np.array([problem.start[1] - problem.goal[1], problem.goal[0] - problem.start[0]])
    powers = np.zeros(waypoints - 1) + 0.5 * sum(problem.powers)
    for height in _BOWS:
        yield line + height * np.sin(np.pi * share) * across, powers


def resampled(path: HillPath, waypoints: int) -> Pair:
    """A path's positions (N, 2) at even distances along it, and its powers (N - 1,) there."""
    along = np.concatenate(([0.0], np.cumsum(np.linalg.norm(path.velocities, axis=1))))
    at = np.linspace(0.0, along[-1], waypoints)
    positions = np.stack([np.interp(at, along, path.positions[:, k]) for k in range(2)], 1)
    middle = 0.5 * (at[1:] + at[:-1])
    step = np.searchsorted(along, middle, side="right") - 1
    return positions, path.powers[np.clip(step, 0, len(path.powers) - 1)]
