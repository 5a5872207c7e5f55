"""Problem of a planner on a hill, and the path that solves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from saltation.convergent.hill import SINE_HILL, Hill
from saltation.options import check_choice
from saltation.systems import Array

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
        ValueError: a place is not two finite numbers, or eta or the powers' interval is empty, or
            hill is no Hill.
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
            vars(self)[name] = _two(name, getattr(self, name), "two finite numbers [m]")
        low, high = _two("powers", self.powers, "(lowest, highest), finite numbers").tolist()
        vars(self)["powers"] = (low, high)
        if not 0.0 < self.eta < np.inf:
            raise ValueError(f"eta {self.eta}: half the goal's side, a finite number above 0 [m]")
        if low > high:
            raise ValueError(f"powers {self.powers}: give (lowest, highest), finite numbers")
        check_kind(self.convergence, self.hill)

    def outside(self) -> tuple[PathStatus, str] | None:
        """Status and message where nobody can start, or start or goal is off the map; or None."""
        if not self.hill.holds(self.start):
            return "start_outside", f"start {_place(self.start)} is outside {_map(self.hill)}"
        (x_low, x_high), (y_low, y_high) = self.hill.x_bounds, self.hill.y_bounds
        nearest = np.clip(self.goal, (x_low, y_low), (x_high, y_high))
        if np.max(np.abs(nearest - self.goal)) > self.eta:
            return "goal_outside", f"goal {_place(self.goal)} is outside {_map(self.hill)}"
        at = self.hill.at(*self.start)
        if at.h_x == 0.0 == at.h_y:
            level = f"the ground is level at the start {_place(self.start)}"
            return "infeasible", f"{level}: the controller (2.6) has no direction there"
        return None

    def reached(self, position: Array) -> bool:
        """Whether a position (2,) [m] is in the goal's square, its edge included."""
        return bool(np.max(np.abs(position - self.goal)) <= self.eta + _ROUNDING)


def check_kind(convergence: str, hill: object) -> None:
    """Refuse what is no convergence or no hill, as a ValueError."""
    check_choice("convergence", convergence, Convergence)
    if not isinstance(hill, Hill):
        raise ValueError(f"hill {hill!r}: give a Hill")


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


def checked(path: HillPath) -> HillPath:
    """A person's path with its numbers as arrays.

    Raises:
        ValueError: it is none of one waypoint or more, or a number is not finite.
    """
    try:
        positions, powers = (
            np.ascontiguousarray(numbers, float) for numbers in (path.positions, path.powers)
        )
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError("path: give a HillPath of positions (N, 2) and powers (N - 1,)") from error
    if positions.shape != (len(powers) + 1, 2) or powers.ndim != 1:
        given = f"positions {positions.shape} and powers {powers.shape}"
        raise ValueError(f"path: it has {given}; give (N, 2) and (N - 1,)")
    if not (np.all(np.isfinite(positions)) and np.all(np.isfinite(powers))):
        raise ValueError("path: a position or power is not finite")
    return path._replace(positions=positions, powers=powers)


def no_path(status: PathStatus, message: str) -> HillPath:
    """The answer of a planner that found none."""
    return HillPath(status, np.zeros((0, 2)), np.zeros(0), message)


def _two(name: str, given: object, asked: str) -> Array:
    """Two finite numbers; ValueError where what was given is something else."""
    try:
        numbers = np.array(given, float)
    except (TypeError, ValueError):
        numbers = np.zeros(0)
    if numbers.shape != (2,) or not np.all(np.isfinite(numbers)):
        raise ValueError(f"{name} {given}: give {asked}")
    return numbers


def _place(position: Array) -> str:
    return f"({position[0]:g}, {position[1]:g})"


def _map(hill: Hill) -> str:
    return f"the map x in {list(hill.x_bounds)}, y in {list(hill.y_bounds)} of the {hill.name}"
