"""How near a sampled set of outcomes comes to those that other impact laws name."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybrid.impacts.contact_problem import ContactProblem
from hybrid.impacts.resolution import Resolution, all_simultaneous, sequential
from hybrid.systems import Array

NEAR = 0.02  # an outcome is found where a sample is nearer than this part of the set's size ...
SAME = 1e-6  # ... or than this part of |v|_M, where the set is a point
_SWEEPS = 4  # of the search for two outcomes far apart


class NamedOutcome(NamedTuple):
    """What one impact law says."""

    name: str  # "simultaneous 1", "sequential AB"
    resolution: Resolution


def named_outcomes(problem: ContactProblem, v: Array) -> list[NamedOutcome]:
    """All simultaneous outcomes of (31), then two sequential ones: in order and reversed."""
    found = [
        NamedOutcome(f"simultaneous {i + 1}", resolution)
        for i, resolution in enumerate(all_simultaneous(problem, v))
    ]
    order = list(range(problem.count))
    for sequence in (order, order[::-1]):
        label = " ".join(problem.contacts[i] for i in sequence)
        found.append(NamedOutcome(f"sequential {label}", sequential(problem, v, sequence)))
    return found


def distances(problem: ContactProblem, points: Array, at: Array) -> Array:
    """Of ``at`` (n,) from each of ``points`` (S, n), in the metric of the kinetic energy (S,)."""
    return np.linalg.norm((points - at) @ np.linalg.cholesky(problem.M), axis=1)


def set_size(problem: ContactProblem, points: Array) -> float:
    """Distance between two points of the set far apart: at least half of the largest there is."""
    if not len(points):
        return 0.0
    at, size = points.mean(axis=0), 0.0
    for _ in range(_SWEEPS):
        away = distances(problem, points, at)
        at, size = points[int(away.argmax())], float(away.max())
    return size


class Nearest(NamedTuple):
    """How near the samples come to one outcome."""

    name: str
    distance: float  # from the nearest sample, over |v|_M; infinite where the law gave none
    found: bool


def nearest(problem: ContactProblem, v: Array, points: Array) -> list[Nearest]:
    """Nearest of the sampled outcomes ``points`` (S, n) to each named one."""
    unit = problem.kinetic_norm(v)
    room = max(NEAR * set_size(problem, points) / unit, SAME)
    rows = []
    for name, resolution in named_outcomes(problem, v):
        far = np.inf
        if resolution.status == "separated":
            far = float(distances(problem, points, resolution.v_plus).min(initial=np.inf)) / unit
        rows.append(Nearest(name, far, far <= room))
    return rows
