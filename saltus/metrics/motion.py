"""What a motion with flight is judged by: what it asked of the motors, and its time in the air."""

from __future__ import annotations

import numpy as np

from controller.solve_schedule import TICK_S
from robots.planar_pose import PlanarPose
from runtime.messages import GroundTruth

MOTION_MEASURES = (
    "largest_torque_n_m", "largest_speed_rad_s", "largest_power_w", "highest_m", "air_s",
    "two_legs_s", "heading_rad",
)  # fmt: skip


class MotionMetrics:
    """Takes the true states of a run as they come, in bounded memory."""

    def __init__(self) -> None:
        """Before the first state."""
        self._torque = self._speed = self._power = 0.0
        self._highest, self._heading = 0.0, 0.0
        self._start: PlanarPose | None = None
        self._air, self._two_legs = _Longest(), _Longest()

    def add(self, truth: GroundTruth) -> None:
        """Take a state in."""
        speed, torque = np.abs(truth.v[6:]), np.abs(truth.torque)
        self._torque = max(self._torque, float(torque.max()))
        self._speed = max(self._speed, float(speed.max()))
        self._power = max(self._power, float(speed @ torque))
        self._highest = max(self._highest, float(truth.q[2]))
        self._start = self._start or PlanarPose.of(truth.q)
        self._heading = PlanarPose.of(self._start.to_local(truth.q)).yaw
        front, rear = truth.contact[:2].any(), truth.contact[2:].any()
        self._air.add(truth.tick, not front and not rear)
        self._two_legs.add(truth.tick, not front)

    def summary(self) -> dict[str, float]:
        """The measures by the names that rows have."""
        measures = (
            self._torque, self._speed, self._power, self._highest, self._air.seconds,
            self._two_legs.seconds, self._heading,
        )  # fmt: skip
        return dict(zip(MOTION_MEASURES, measures, strict=True))


class _Longest:
    """The longest time for which something was so, without a break; states may be missing."""

    def __init__(self) -> None:
        self._since: int | None = None  # tick
        self._most = 0

    def add(self, tick: int, so: bool) -> None:
        """Take a state in; what is so holds until the next state."""
        if self._since is not None:
            self._most = max(self._most, tick - self._since)
        if not so:
            self._since = None
        elif self._since is None:
            self._since = tick

    @property
    def seconds(self) -> float:
        return round(self._most * TICK_S, 6)
