"""What a planner on a hill is asked, and the path that it gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from controller.convergent.hill import SINE_HILL, Hill
from hybrid.systems import Array

Convergence = Literal["none", "average", "maximum"]  # D_a < 0 is "average", D_m < 0 "maximum"
PathStatus = Literal[
    "ok",
    "start_outside",  # the start is not on the map
    "goal_outside",  # nothing of the goal's square is on the map
    "infeasible",  # the solver found no path that keeps the constraints
    "iteration_limit",  # the planner used up its iterations
    "solver_failed",
]

_ROUNDING = 1e-12  # [m]


@dataclass(frozen=True)
class HillProblem:
    """Go from start into the square of half side eta about goal, (2.21), keeping (2.22) or (2.23).

    Raises:
        ValueError: a place is not two finite numbers, or eta or the powers' interval is empty.
    """

    start: Array  # (2,) [m]
    goal: Array  # (2,) [m]
    convergence: Convergence = "none"
    powers: tuple[float, float] = (0.0, 2.0)  # p_min, p_max
    eta: float = 0.05  # [m]
    hill: Hill = SINE_HILL

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ("start", "goal"):
            place = np.asarray(getattr(self, name), dtype=np.float64)
            if place.shape != (2,) or not np.all(np.isfinite(place)):
                raise ValueError(f"{name} {getattr(self, name)}: give two finite numbers [m]")
            object.__setattr__(self, name, place)
        if not 0.0 < self.eta < np.inf:
            raise ValueError(f"eta {self.eta}: half the goal's side, a finite number above 0 [m]")
        if not -np.inf < self.powers[0] <= self.powers[1] < np.inf:
            raise ValueError(f"powers {self.powers}: give (lowest, highest), finite numbers")
        if self.convergence not in ("none", "average", "maximum"):
            raise ValueError(f"convergence {self.convergence!r}: none, average or maximum")

    def outside(self) -> tuple[PathStatus, str] | None:
        """Status and message where start or goal is off the map; None where both are on it."""
        if not self.hill.holds(self.start):
            return "start_outside", f"start {_place(self.start)} is outside {_map(self.hill)}"
        (x_low, x_high), (y_low, y_high) = self.hill.x_bounds, self.hill.y_bounds
        nearest = np.clip(self.goal, (x_low, y_low), (x_high, y_high))
        if np.max(np.abs(nearest - self.goal)) > self.eta:
            return "goal_outside", f"goal {_place(self.goal)} is outside {_map(self.hill)}"
        return None

    def reached(self, position: Array) -> bool:
        """Whether a position (2,) [m] is in the goal's square, its edge included."""
        return bool(np.max(np.abs(position - self.goal)) <= self.eta + _ROUNDING)


class HillPath(NamedTuple):
    """N waypoints; the robot goes straight from each to the next in one unit of time.

    Not to be followed unless the status is "ok"; the path is then in the goal's square at its end.
    """

    status: PathStatus
    positions: Array  # (N, 2) [m]
    powers: Array  # (N - 1,) of the controller, p, on the way to the next waypoint
    message: str = ""  # for a person: what was violated most, and at which waypoint

    @property
    def ok(self) -> bool:
        """Whether it can be followed."""
        return self.status == "ok"

    @property
    def velocities(self) -> Array:
        """(N - 1, 2) [m per step], (2.20) with dt = 1."""
        return np.diff(self.positions, axis=0)


def no_path(status: PathStatus, message: str) -> HillPath:
    """The answer of a planner that found none."""
    return HillPath(status, np.zeros((0, 2)), np.zeros(0), message)


def _place(position: Array) -> str:
    return f"({position[0]:g}, {position[1]:g})"


def _map(hill: Hill) -> str:
    return f"the map x in {list(hill.x_bounds)}, y in {list(hill.y_bounds)} of the {hill.name}"
