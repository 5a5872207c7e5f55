"""The interface of planners: from an estimate to a plan."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from robots.planar_pose import PlanarPose
from runtime.messages import LineSearch, Plan, StateEstimate

if TYPE_CHECKING:
    from controller.driving.commands import CommandIntake
    from controller.ground_estimate import GroundEstimate

Stop = Callable[[], bool]


class Planner(ABC):
    """Turns estimates into plans; a new planner has `solve`, and the rest where it has use for it.

    `solve` works in axes that begin below the robot's first estimate and lead along its heading, so
    that no planner, reference or motion depends on where the IMU's world has its heading 0.

    Attributes:
        line_search: of the last solve; None where it searched no line.
        start_pose: where the robot began, the first sound estimate's unless it is set before; None
            until then.
        ground_estimate: follows the estimates that are planned from; None of ground that is known.
    """

    line_search: LineSearch | None = None
    ground_estimate: GroundEstimate | None = None
    start_pose: PlanarPose | None = None

    def plan_from(
        self,
        estimate: StateEstimate,
        lead: float = 0.0,
        out_of_time: Stop | None = None,
        on_plan: Callable[[Plan], None] | None = None,
    ) -> Plan:
        """Plan from an estimate in the world's axes; `solve` plans in those of the start.

        Arguments and plan are as in `solve`.
        """
        pose = self.start_pose or PlanarPose.of(estimate.q)
        is_sound = estimate.status in ("ok", "degraded") and isfinite(sum(pose))
        if self.start_pose is None and is_sound:
            self.start_pose = pose
        publish = on_plan and (lambda plan: on_plan(_to_world(plan, pose)))
        seen = replace(estimate, q=pose.to_local(estimate.q))
        return _to_world(self.solve(seen, lead, out_of_time, publish), pose)

    @abstractmethod
    def solve(
        self,
        estimate: StateEstimate,
        lead: float = 0.0,
        out_of_time: Stop | None = None,
        on_plan: Callable[[Plan], None] | None = None,
    ) -> Plan:
        """Plan from an estimate.

        Args:
            estimate: the newest one, of a robot that began at x = y = 0 with heading 0.
            lead: the plan takes effect so long after the estimate [s].
            out_of_time: whether the solve is to end; None where it has no limit.
            on_plan: takes plans that are there before the last one, which is returned.
        """

    @property
    def commands(self) -> CommandIntake | None:
        """Source of the goals of a driven robot; None where it is not driven."""
        return None

    @property
    def round_trip_s(self) -> float:
        """Time of the last solve for asking a physics server, its physics not counted [s]."""
        return 0.0

    def statistics(self) -> dict[str, Any]:
        """More numbers for the report, plain values only."""
        return {}


def _to_world(plan: Plan, pose: PlanarPose) -> Plan:
    """A plan in a pose's axes, in the world's."""
    return replace(plan, states_q=pose.to_world(plan.states_q))
