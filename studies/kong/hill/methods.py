"""The eleven methods of 2.4.1, and what Table 2.1 has of them."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from controller.convergent.hill import SINE_HILL
from controller.convergent.hill_path import Convergence, HillProblem

Planner = Literal["T-OPT shortest", "T-OPT", "RRT", "RRT*"]
ANY_POWER, ONE = (0.0, 2.0), (1.0, 1.0)


class Printed(NamedTuple):
    """A line of Table 2.1: means alone."""

    success: float  # S [%]
    log_area_ratio: float
    log_distance_ratio: float
    acceleration_cost: float
    seconds: float  # T


class Method(NamedTuple):
    """A way to plan."""

    number: int  # in 2.4.1
    planner: Planner
    convergence: Convergence
    powers: tuple[float, float]
    printed: Printed
    both_ends: bool = False  # T-OPT asks its constraint also where a step ends

    @property
    def label(self) -> str:
        """Its number and name, such as "10 CR-RRT D_a < 0"."""
        prefix = {"none": "B-", "average": "CR-", "maximum": "CR-"}[self.convergence]
        name = (prefix if self.planner.startswith("RRT") else "") + self.planner
        name += " p = 1" if self.planner == "T-OPT" and self.powers == ONE else ""
        limit = {"none": "", "average": " D_a < 0", "maximum": " D_m < 0"}[self.convergence]
        return f"{self.number} {name}{limit}"

    @property
    def tick(self) -> str:
        """The label for a picture."""
        return self.label.replace("D_a < 0", "$D_a < 0$").replace("D_m < 0", "$D_m < 0$")

    @property
    def power(self) -> str:
        """The interval of p, as the table has it."""
        return "1" if self.powers == ONE else "[0, 2]"

    def problem(self, start: np.ndarray, goal: np.ndarray) -> HillProblem:
        """From start to goal on the thesis's hill, as this method is asked it."""
        return HillProblem(start, goal, self.convergence, self.powers)


METHODS = (
    Method(1, "T-OPT shortest", "none", ONE, Printed(100.0, 0.09, 0.685, 0.406, 0.741)),
    Method(2, "T-OPT", "none", ANY_POWER, Printed(100.0, -3.26, 0.425, 5.89, 219.0)),
    Method(3, "RRT", "none", ANY_POWER, Printed(96.5, -3.03, -0.00146, 31.8, 73.0)),
    Method(4, "RRT*", "none", ANY_POWER, Printed(94.0, -3.08, 0.133, 7.96, 181.0)),
    Method(5, "T-OPT", "maximum", ANY_POWER, Printed(4.5, -5.17, -0.221, 76.3, 244.0)),
    Method(6, "RRT", "maximum", ANY_POWER, Printed(7.5, -1.78, -0.124, 20.0, 32.3)),
    Method(7, "RRT*", "maximum", ANY_POWER, Printed(1.0, -0.20, -0.005, 5.55, 2160.0)),
    Method(8, "T-OPT", "average", ANY_POWER, Printed(92.5, -4.2, 0.0633, 6.52, 714.0)),
    Method(9, "T-OPT", "average", ONE, Printed(84.0, -3.06, 0.0921, 6.37, 121.0)),
    Method(10, "RRT", "average", ANY_POWER, Printed(93.0, -3.17, -0.0176, 29.2, 96.6)),
    Method(11, "RRT*", "average", ANY_POWER, Printed(83.5, -3.01, 0.028, 9.2, 708.0)),
)

BOTH_ENDS = tuple(METHODS[number - 1]._replace(both_ends=True) for number in (5, 8, 9))


def ends(seed: int, trial: int) -> tuple[np.ndarray, np.ndarray]:
    """Start and goal (2,) [m] of a trial, uniform on the map; the same for all methods."""
    low, high = np.transpose([SINE_HILL.x_bounds, SINE_HILL.y_bounds])
    start, goal = np.random.default_rng([seed, trial]).uniform(low, high, (2, 2))
    return start, goal
