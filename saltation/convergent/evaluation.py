"""Effect of a path on a hill on uncertainty: E_a and E_m of the thesis, 2.3.6.

A circle of points stands for where the robot may be instead of at the start. The robot chooses
theta and alpha of the power controller (2.6), at every moment between two waypoints, so that it
would go straight and evenly from one to the next if it were on the path; every point does what
this theta, alpha and p do where it is. The points may leave the map: a hill's height function goes
on beyond it.

The thesis compares areas of "the starting circle" and of a convex hull. Here both are hulls: the
start's is the regular polygon's, so that a set that only moves has E_a = 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from saltation.convergent.compiled_hill import compiled_hill
from saltation.convergent.hill_path import HillPath, HillProblem, checked
from saltation.convergent.uncertainty_kernel import flow
from saltation.options import check
from saltation.systems import Array

FLOOR = 1e-12  # least E_a: below it a hull is made of rounding errors
TOLERANCE = 1e-6  # relative, by which E_a and E_m may change when all steps are halved
LONGEST = 0.02  # first step of integration [m] along the path
SMALLEST = 1e-9  # circle, over the size of the positions: below it rounding errors are the result
FINEST = 256  # times as many steps are the most that is tried

EvaluationStatus = Literal[
    "ok",
    "no_path",  # there is nothing to follow
    "not_finite",  # a point came to where the hill is level, which stops the controller
    "inaccurate",  # steps as short as tried still change the result: E_a and E_m are rough
]


@dataclass(frozen=True)
class Uncertainty:
    """Points on a circle about the start.

    Raises:
        ValueError: fewer than three points, no whole number of them, or no positive radius.
    """

    points: int = 40
    radius: float | None = None  # r [m]; None: eta of the problem, as in the thesis

    def __post_init__(self) -> None:
        """Check the numbers."""
        check(self, "radius" * (self.radius is not None), "points")
        if self.points < 3:
            raise ValueError(f"points {self.points}: give a whole number, 3 or more")

    def radius_for(self, problem: HillProblem) -> float:
        """Radius r [m] of the circle in this problem."""
        return problem.eta if self.radius is None else self.radius

    def circle(self, problem: HillProblem) -> Array:
        """Points (points, 2) [m] about nothing, the first to the right, anticlockwise."""
        angles = np.arange(self.points) * (2.0 * np.pi / self.points)
        return self.radius_for(problem) * np.stack([np.cos(angles), np.sin(angles)], 1)


class Evaluation(NamedTuple):
    """Measures of the points. The ratios are NaN where they cannot be known."""

    status: EvaluationStatus
    area_ratio: float = np.nan  # E_a: area of the convex hull at the end over that at the start
    distance_ratio: float = np.nan  # E_m: largest distance to the nominal end over the radius
    end_points: Array = np.zeros((0, 2))  # (points, 2) [m]
    message: str = ""


CIRCLE = Uncertainty()


def evaluate(problem: HillProblem, path: HillPath, uncertainty: Uncertainty = CIRCLE) -> Evaluation:
    """E_a and E_m of a path, with an error below ``TOLERANCE`` of each.

    The method has order four: where halving the steps changes the ratios by less than the
    tolerance, those of the halved steps are some fifteen times closer still.

    Raises:
        ValueError: the path is "ok" and has not N positions and N - 1 powers, all finite.
    """
    if not path.ok or len(path.positions) == 0:
        why = path.message or f"the planner ended with {path.status}"
        return Evaluation("no_path", message=why)
    path, radius = checked(path), uncertainty.radius_for(problem)
    if radius < (least := SMALLEST * max(1.0, float(np.max(np.abs(path.positions))))):
        why = f"a circle of {radius:.1e} m is lost in rounding: give a radius of {least:.1e} m"
        return Evaluation("inaccurate", message=why)
    found = _ratios(problem, path, uncertainty, 1)
    fine, change = 1, np.inf
    while change > TOLERANCE and fine < FINEST and found.status == "ok":
        fine, rough = 2 * fine, found
        found = _ratios(problem, path, uncertainty, fine)
        change = max(
            abs(found.area_ratio - rough.area_ratio) / found.area_ratio,
            abs(found.distance_ratio - rough.distance_ratio) / max(found.distance_ratio, FLOOR),
        )
    if found.status == "ok" and change > TOLERANCE:
        why = f"steps of {LONGEST / fine:.1e} m still change the ratios by {change:.1e}"
        return found._replace(status="inaccurate", message=why)
    return found


def trace(
    problem: HillProblem, path: HillPath, uncertainty: Uncertainty = CIRCLE, fine: int = 4
) -> Array:
    """Places of the points at every waypoint: (N, points, 2) [m]; N = 0 without a path.

    Steps of integration are ``LONGEST / fine``.

    Raises:
        ValueError: as in ``evaluate``.
    """
    count = len(path.positions) if path.ok else 0
    paths = np.empty((count, uncertainty.points, 2))
    if count:
        path = checked(path)
        paths[0] = path.positions[0] + uncertainty.circle(problem)
        flow(compiled_hill(problem.hill), path.positions, path.powers, paths, LONGEST, fine)
    return paths


def _ratios(
    problem: HillProblem, path: HillPath, uncertainty: Uncertainty, fine: int
) -> Evaluation:
    ends, nominal = trace(problem, path, uncertainty, fine)[-1], path.positions[-1]
    if not np.all(np.isfinite(ends)):
        why = "a point came to where the hill is level"
        return Evaluation("not_finite", end_points=ends, message=why)
    away = ends - nominal
    area = max(hull_area(away) / hull_area(uncertainty.circle(problem)), FLOOR)
    farthest = float(np.max(np.hypot(away[:, 0], away[:, 1])))
    return Evaluation("ok", area, farthest / uncertainty.radius_for(problem), ends)


def hull_area(points: Array) -> float:
    """Area [m^2] of the convex hull of (n, 2) points; zero where they are on one line."""
    try:
        return float(ConvexHull(points).volume)  # of two dimensions, the area
    except QhullError:  # it calls them flat
        return 0.0
