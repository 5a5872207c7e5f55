"""Options of the trees; the defaults are those of 2.4.1 where it gives any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from saltation.options import check, check_choice

BiasAt = Literal["unit_alpha", "unit_speed"]


@dataclass(frozen=True)
class RrtOptions:
    """Options of KD-RRT, B-RRT and CR-RRT.

    The thesis gives the action and the bias. How many candidates it draws, when it gives up and
    at which alpha D_a stands in e^(b D_a) it does not say: these are the ones with which the trees
    come nearest to Table 2.1 (``planners``).

    Raises:
        ValueError: a number that no tree can have.
    """

    action: float = 0.025  # a, length of a step [m]
    bias: float = 1.5  # b; 0 for KD-RRT
    bias_at: BiasAt = "unit_alpha"  # D_a of the bias: at alpha = 1, or of a robot of unit speed
    candidates: int = 6  # directions and powers drawn in an iteration
    max_iterations: int = 40_000
    patience: int = 5000  # iterations in a row without a new node: the tree has dried up
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the numbers."""
        check(self, "action", "candidates max_iterations patience", "bias seed")
        check_choice("bias_at", self.bias_at, BiasAt)
        if self.seed != int(self.seed) or self.seed >= 2**62:
            raise ValueError(f"seed {self.seed}: give a whole number, 0 or more")


@dataclass(frozen=True)
class RrtStarOptions(RrtOptions):
    """Options of B-RRT* and CR-RRT*.

    The thesis gives the action, the bias, the radius, the powers and the goal's share; the rest
    is as for RrtOptions.

    Raises:
        ValueError: a number that no tree can have.
    """

    action: float = 0.005  # a, how far a new node lies from the nearest [m]
    max_iterations: int = 90_000  # until the goal is first reached
    rewire: float = 0.025  # r, longest edge [m]
    spacing: float = 0.001  # no new node comes nearer to another than this [m]
    goal_share: float = 0.05  # how often the goal is the sample
    powers: tuple[float, ...] = (0.0, 1.0, 2.0)  # those of them that the problem allows
    extra_iterations: int = 1000  # k, after the goal is first reached

    def __post_init__(self) -> None:
        """Check the numbers."""
        super().__post_init__()
        check(self, "rewire")
        if not self.rewire >= self.action:
            raise ValueError(f"rewire {self.rewire}: give the action {self.action} [m] or more")
        if not 0.0 <= self.spacing <= self.action:
            raise ValueError(f"spacing {self.spacing}: give 0 up to the action {self.action} [m]")
        if not 0.0 <= self.goal_share <= 1.0:
            raise ValueError(f"goal_share {self.goal_share}: give a share in [0, 1]")
        if self.extra_iterations != int(self.extra_iterations) or self.extra_iterations < 0:
            raise ValueError(f"extra_iterations {self.extra_iterations}: give 0, 1, 2, ...")
        vars(self)["extra_iterations"] = int(self.extra_iterations)
        if not (len(self.powers) and np.all(np.isfinite(self.powers))):
            raise ValueError(f"powers {self.powers}: give finite numbers, one at least")
