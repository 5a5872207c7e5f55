"""Messages as they are seen from where the robot starts: terrain and pushes are described so."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from robots.planar_pose import PlanarPose
from runtime.messages import GroundTruth, Plan, PlanOutline, StateEstimate
from saltus.configuration.launch import LaunchConfig


class StartAxes:
    """Moves states and plans of a launch to its start; of a real robot nothing is moved."""

    def __init__(self, config: LaunchConfig) -> None:
        """Of a launch, or of a run of it."""
        self._true = PlanarPose() if config.kind.real else config.simulation.start.pose
        self._estimated = PlanarPose(yaw=self._true.yaw)  # estimates begin at x = y = 0

    def to_local(self, message: Any) -> Any:
        """A message; others than states and plans stay as they are."""
        if not any(self._true):
            return message
        if isinstance(message, GroundTruth):
            return replace(message, q=self._true.to_local(message.q))
        if isinstance(message, StateEstimate):
            return replace(message, q=self._estimated.to_local(message.q))
        if isinstance(message, Plan):
            return replace(message, states_q=self._estimated.to_local(message.states_q))
        if isinstance(message, PlanOutline):
            candidates = PlanarPose(yaw=-self._estimated.yaw).points_to_world(message.candidates)
            states = self._estimated.to_local(message.states_q)
            return replace(message, states_q=states, candidates=candidates)
        return message
