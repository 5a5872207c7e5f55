"""What a driven run is judged by: how well commands are followed, and what that costs."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from controller.driving.commands import Goal
from robots.conventions import GRAVITY
from runtime.messages import GroundTruth, StateEstimate
from saltus.configuration.launch import LaunchConfig
from saltus.metrics.driven_goal import GoalWatch

Array = NDArray[np.float64]

SETTLE_S = 1.0  # after each change of the goal, left out
WINDOW_S = 0.5  # over which velocities are averaged


class FollowingError:
    """Root mean square of the velocity errors of windows of half a second."""

    def __init__(self) -> None:
        """Before the first state."""
        self.windows = 0
        self._squares, self._sum, self._count = np.zeros(2), np.zeros(3), 0
        self._goal: Goal | None = None
        self._begin = 0.0  # of the window that is under way [s]

    def add(self, time: float, goal: Goal, motion: Array) -> None:
        """Take velocity forward and left [m/s] and yaw rate [rad/s] (3) at `time` [s]."""
        if goal != self._goal:
            self._goal, self._begin = goal, time + SETTLE_S
            self._sum, self._count = np.zeros(3), 0
        passed = time - self._begin + 1e-9
        if passed >= WINDOW_S:
            self._close(goal)
            self._begin += WINDOW_S * math.floor(passed / WINDOW_S)
        if passed >= 0.0:
            self._sum += motion
            self._count += 1

    def rmse(self) -> tuple[float | None, float | None]:
        """Of the velocity over the ground [m/s] and the yaw rate [rad/s]; None without a window."""
        if not self.windows:
            return None, None
        velocity, yaw_rate = np.sqrt(self._squares / self.windows)
        return float(velocity), float(yaw_rate)

    def _close(self, goal: Goal) -> None:
        """Count the window that is under way."""
        if self._count:
            wanted = np.zeros(3) if goal.gait == "stand" else np.array(goal[:3])
            error = self._sum / self._count - wanted
            self._squares += (error[0] ** 2 + error[1] ** 2, error[2] ** 2)
            self.windows += 1
        self._sum, self._count = np.zeros(3), 0


class DrivingMetrics:
    """Takes the states of a driven run as they come, in bounded memory.

    Attributes:
        goals: what is asked for.
        distance: length of the base's path over the ground [m].
    """

    def __init__(self, config: LaunchConfig) -> None:
        """Of a driven launch."""
        self.goals, self.distance = GoalWatch(config), 0.0
        world = config.simulation
        self._weight = GRAVITY * (config.robot_model.mass * world.mass_scale + world.payload_mass)
        self._error = FollowingError()
        self._first: Array | None = None  # position over the ground [m]
        self._before: Array | None = None  # the last one
        self._start: GroundTruth | None = None
        self._truth: GroundTruth | None = None  # the last one

    def add(self, state: GroundTruth | StateEstimate) -> None:
        """Take a state in; estimates know neither work nor slip."""
        self._error.add(state.time, self.goals.at(state.time), motion_in_heading(state))
        if self._before is not None:
            self.distance += float(np.hypot(*(state.q[:2] - self._before)))
        self._before = state.q[:2]
        self._first = self._before if self._first is None else self._first
        if isinstance(state, GroundTruth):
            self._start, self._truth = self._start or state, state

    def summary(self) -> dict[str, float | None]:
        """The measures by the names that rows have; None where nobody knows."""
        velocity, yaw_rate = self._error.rmse()
        cost = slip = None
        if self._start is not None and self._truth is not None:
            slip = self._truth.foot_slip - self._start.foot_slip
            if self.distance > 0.0:
                cost = (self._truth.work - self._start.work) / (self._weight * self.distance)
        return {
            "velocity_rmse_m_s": velocity,
            "yaw_rate_rmse_rad_s": yaw_rate,
            "cost_of_transport": cost,
            "foot_slip_m": slip,
            "distance_m": self.distance,
            "displacement_m": self._displacement(),
            "max_lateral_deviation_m": None,  # from no straight line
        }

    def _displacement(self) -> float:
        """Between the first state and the last over the ground [m]."""
        if self._first is None or self._before is None:
            return 0.0
        return float(np.hypot(*(self._before - self._first)))


def motion_in_heading(state: GroundTruth | StateEstimate) -> Array:
    """Forward and left velocity in the heading frame [m/s] and yaw rate [rad/s] (3,)."""
    rotation = base_rotation(state.q[3:7])
    velocity, spin = rotation @ state.v[:3], rotation @ state.v[3:6]
    x, y = rotation[:2, 0] / np.hypot(*rotation[:2, 0])  # the heading
    return np.array((x * velocity[0] + y * velocity[1], x * velocity[1] - y * velocity[0], spin[2]))


def base_rotation(quaternion: Array) -> Array:
    """Rotation (3, 3) of a quaternion x, y, z, w; `robots.rotations` would load the compiler."""
    x, y, z, w = quaternion
    return np.array((
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    ))  # fmt: skip
