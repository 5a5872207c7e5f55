"""Distances of a sampled set of outcomes from those of other impact laws."""

from __future__ import annotations

import numpy as np

from saltation.impacts.contact_problem import ContactProblem
from saltation.impacts.resolution import Resolution, all_simultaneous, sequential
from saltation.systems import Array

NEAR = 0.02  # an outcome is found where a sample is nearer than this part of the set's size ...
SAME = 1e-6  # ... or than this part of |v|_M, where the set is a point
_SWEEPS = 4  # of the search for two outcomes far apart


def named_outcomes(problem: ContactProblem, v: Array) -> dict[str, Resolution]:
    """All simultaneous outcomes of (31), then two sequential ones: in order and reversed."""
    found = {f"simultaneous {i}": each
             for i, each in enumerate(all_simultaneous(problem, v), start=1)}  # fmt: skip
    order = list(range(problem.count))
    for sequence in (order, order[::-1]):
        label = " ".join(problem.contacts[i] for i in sequence)
        found[f"sequential {label}"] = sequential(problem, v, sequence)
    return found


def distances(problem: ContactProblem, points: Array, at: Array) -> Array:
    """Distances of ``at`` (n,) from ``points`` (S, n), in the metric of the kinetic energy (S,)."""
    return np.linalg.norm((points - at) @ np.linalg.cholesky(problem.M), axis=1)


def set_size(problem: ContactProblem, points: Array) -> float:
    """Distance between two points of the set far apart: at least half of the largest there is."""
    if not len(points):
        return 0.0
    at, size = points.mean(axis=0), 0.0
    for _ in range(_SWEEPS):
        away = distances(problem, points, at)
        at, size = points[away.argmax()], away.max()
    return size


def nearest(problem: ContactProblem, v: Array, points: Array) -> dict[str, tuple[float, bool]]:
    """Distance of the nearest of ``points`` (S, n) to each named outcome, and whether it is near.

    Over |v|_M; infinite where the law gave none.
    """
    unit, near = problem.kinetic_norm(v), {}
    room = max(NEAR * set_size(problem, points) / unit, SAME)
    for name, resolution in named_outcomes(problem, v).items():
        far = np.inf
        if resolution.status == "separated":
            far = distances(problem, points, resolution.v_plus).min(initial=np.inf) / unit
        near[name] = far, far <= room
    return near
