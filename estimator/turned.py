"""A filter that knows the ground, which is seen along the heading that the robot starts with."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from estimator.interface import Estimator
from robots.planar_pose import PlanarPose
from runtime.messages import SensorReading, StateEstimate

Array = NDArray[np.float64]


class TurnedEstimator:
    """Turns readings to the ground's axes, and estimates back; all else is the filter's own."""

    divergences: int

    def __init__(self, core: Estimator, heading: float) -> None:
        """`heading` is that of the ground's x axis in the IMU's world [rad]."""
        self._core, self._pose = core, PlanarPose(yaw=heading)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._core, name)

    def update(self, reading: SensorReading) -> StateEstimate:
        """Take one reading in; give the estimate of the IMU's world."""
        q = np.concatenate((np.zeros(3), reading.quaternion_imu_in_world, np.zeros(12)))
        turned = replace(reading, quaternion_imu_in_world=self._pose.to_local(q)[3:7])
        estimate = self._core.update(turned)
        return replace(estimate, q=self._pose.to_world(estimate.q))

    def reset(self, position: Array | None = None) -> None:
        """Forget everything; the next reading starts anew at `position` (2 or 3) [m]."""
        if position is not None:
            position = position.copy()
            there = PlanarPose(yaw=-self._pose.yaw).points_to_world(np.append(position[:2], 0.0))
            position[:2] = there[:2]
        self._core.reset(position)
