"""Options of the HiLQR MPC planner."""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.tracking_cost import CostOptions


class RealtimePlanning(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the planner does differently when the robot does not wait for it (6.4.4).

    Attributes:
        iterations, step_sizes, substeps, threads: in place of those of `PlannerOptions`.
        time_limit: a solve that lasts longer is abandoned [s].
    """

    iterations: int = 1
    step_sizes: tuple[float, ...] = (1.0, 0.5, 0.2, 0.05)
    substeps: int = 2
    threads: int = 1
    time_limit: float = 0.018


class PlannerOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far and how hard the planner looks (6.4.4).

    Attributes:
        knots: length of the horizon; period: time between knots [s].
        iterations: most HiLQR iterations of a solve.
        step_sizes: of the line search; the reference's policy is one candidate more.
        substeps: physics steps within a knot; threads: of the physics.
        tolerance: a solve ends when the expected change of cost falls below it.
        damping: regularisation of the input Hessian that a solve begins with.
        variant: "xi" carries the value function with saltation matrices, "dxr" with the Jacobian
            of the reset alone.
        cost: weights of the tracking cost.
        realtime: what changes in real time.
    """

    knots: int = 50
    period: float = 0.01
    iterations: int = 2
    step_sizes: tuple[float, ...] = (1.0, 0.7, 0.49, 0.343, 0.24, 0.118, 0.058, 0.014)
    substeps: int = 2
    threads: int = 2
    tolerance: float = 1e-3
    damping: float = 1e-6
    variant: Literal["xi", "dxr"] = "xi"
    cost: CostOptions = CostOptions()
    realtime: RealtimePlanning = RealtimePlanning()

    def in_real_time(self) -> PlannerOptions:
        """These options with those of real time put in."""
        now = self.realtime
        return msgspec.structs.replace(
            self, iterations=now.iterations, step_sizes=now.step_sizes, substeps=now.substeps,
            threads=now.threads,
        )  # fmt: skip
