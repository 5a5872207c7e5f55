"""Options of the HiLQR MPC planner."""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.cost_options import CostOptions
from hybrid.line_search import LineSearch

TouchdownOrder = Literal["index", "average", "selected"]


class Search(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How hard the planner looks for a better trajectory.

    Attributes:
        iterations: most HiLQR iterations of a solve.
        step_sizes: of the line search.
        line_search: "exhaustive" tries all step sizes at once; "two_stage" the first two, then all
            others at once; "backtracking" one after the other. The last two end where a step
            reduces the cost by 0.3 of what it promised.
        substeps: physics steps within a knot.
        threads: of the physics and of its derivatives; rigid derivatives take one.
    """

    iterations: int = 2
    step_sizes: tuple[float, ...] = (1.0, 0.7, 0.49, 0.343, 0.24, 0.118, 0.058, 0.014)
    line_search: LineSearch = "two_stage"
    substeps: int = 2
    threads: int = 2

    def __post_init__(self) -> None:
        """Raise ValueError for what no planner can run on."""
        for name in ("iterations", "substeps", "threads"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; give 1 or more")
        steps = self.step_sizes
        if not steps or not all(0.0 < step <= 1.0 for step in steps):
            raise ValueError(f"step_sizes is {list(steps)}; give one or more, above 0 and up to 1")


class RealtimePlanning(Search, frozen=True, forbid_unknown_fields=True):
    """How hard the planner looks when the robot does not wait for it (6.4.4).

    Attributes:
        time_limit: a solve that has lasted longer when its line search begins tries fewer
            candidates, and is published all the same [s].
    """

    iterations: int = 1
    step_sizes: tuple[float, ...] = (1.0, 0.5, 0.2, 0.05)
    line_search: LineSearch = "backtracking"
    substeps: int = 1
    threads: int = 1
    time_limit: float = 0.018

    def __post_init__(self) -> None:
        """Raise ValueError for what no planner can run on."""
        Search.__post_init__(self)
        if not self.time_limit > 0.0:
            raise ValueError(f"time_limit is {self.time_limit:g}; give seconds > 0")


class PlannerOptions(Search, frozen=True, forbid_unknown_fields=True):
    """How far and how hard the planner looks (6.4.4).

    Attributes:
        knots: length of the horizon; period: time between knots [s].
        tolerance: a solve ends when the expected change of cost falls below it.
        damping: regularisation of the input Hessian that a solve begins with.
        derivatives: of the backward pass. "rollout": of the rollouts' own steps, analytic;
            "differences": the same by finite differences; "rigid": of rigid feet that stick, with a
            transition where one lands, as in the thesis.
        variant: of rigid derivatives: "xi" carries the value function with saltation matrices,
            "dxr" with the Jacobian of the reset alone.
        touchdown_order: of rigid derivatives, for feet that land within one knot: "index", that of
            the legs; "average", the mean over all orders; "selected", that in which they reach the
            ground.
        cost: weights of the tracking cost.
        realtime: the search in real time.
    """

    knots: int = 50
    period: float = 0.01
    tolerance: float = 1e-3
    damping: float = 0.02
    derivatives: Literal["rigid", "rollout", "differences"] = "rollout"
    variant: Literal["xi", "dxr"] = "xi"
    touchdown_order: TouchdownOrder = "index"
    cost: CostOptions = CostOptions()
    realtime: RealtimePlanning = RealtimePlanning()

    def __post_init__(self) -> None:
        """Raise ValueError for what no planner can run on."""
        Search.__post_init__(self)
        if self.knots < 2:
            raise ValueError(f"knots is {self.knots}; give 2 or more")
        if not 0.0 < self.period < 1.0:
            raise ValueError(f"period is {self.period:g}; give seconds between 0 and 1")
        if not (self.tolerance >= 0.0 and self.damping >= 0.0):
            raise ValueError("tolerance and damping must not be negative")

    def in_real_time(self) -> PlannerOptions:
        """These options with the search of real time."""
        search = {name: getattr(self.realtime, name) for name in Search.__struct_fields__}
        return msgspec.structs.replace(self, **search)
