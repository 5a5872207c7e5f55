"""Options of the HiLQR MPC planner."""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.tracking_cost import CostOptions


class PlannerOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far and how hard the planner looks (6.4.4).

    Attributes:
        knots: length of the horizon; period: time between knots [s].
        iterations: most HiLQR iterations of a solve.
        time_limit: a solve that lasts longer is abandoned, in real time only [s]; 0 for no limit.
        step_sizes: of the line search; the reference's policy is one candidate more.
        substeps: physics steps within a knot; threads: of the physics.
        tolerance: a solve ends when the expected change of cost falls below it.
        damping: regularisation of the input Hessian that a solve begins with.
        variant: "xi" carries the value function with saltation matrices, "dxr" with the Jacobian
            of the reset alone.
        cost: weights of the tracking cost.
    """

    knots: int = 50
    period: float = 0.01
    iterations: int = 2
    time_limit: float = 0.0
    step_sizes: tuple[float, ...] = (1.0, 0.7, 0.49, 0.343, 0.24, 0.118, 0.058, 0.014)
    substeps: int = 2
    threads: int = 2
    tolerance: float = 1e-3
    damping: float = 1e-6
    variant: Literal["xi", "dxr"] = "xi"
    cost: CostOptions = CostOptions()
