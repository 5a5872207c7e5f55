"""The goal of a driven robot, for metrics and reports."""

from __future__ import annotations

import math

import numpy as np
from msgspec.structs import replace

from controller.driving.commands import CommandIntake, CommandScript, Goal
from robots.conventions import GRAVITY
from runtime.checked import Array
from runtime.messages import Command, GroundTruth, RobotStatus, StateEstimate
from saltus.common.heading import motion_in_heading
from saltus.configuration.launch import LaunchConfig

HOLDS_S = 1e6  # a command of a script holds until the next one: its source is never silent


class GoalWatch:
    """The goal in force at each state of a run.

    A script's goals go by the time since the first state, which makes them the same in every run.
    Other commands, and a script's on an A1 that has to stand up first, count as they arrive.
    """

    def __init__(self, config: LaunchConfig) -> None:
        """Watch a driven launch."""
        script = config.script
        drive = config.drive
        if script is not None:
            drive = replace(drive, silence=HOLDS_S)
        self._script = None
        if script is not None and not config.kind.bridged:
            self._script = CommandScript(script, drive, config.reference)
        self._intake = CommandIntake(drive)
        self._first: float | None = None
        self._now = 0.0

    def offer(self, command: Command) -> None:
        """Take a command of the launch, which arrives after the newest state."""
        self._intake.offer(command, self._now)

    def note(self, status: RobotStatus) -> None:
        """A robot that is to sit down stands first."""
        if status.is_ending:
            self._intake.end()

    def at(self, time: float) -> Goal:
        """The goal at the state of `time` [s]; states come in their order."""
        self._now = time
        if self._first is None:
            self._first = time
        if self._script is not None:
            return self._script.goal(time - self._first)
        self._intake.look(time)
        return self._intake.goal()


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
            if self._count:
                wanted = np.zeros(3) if goal.gait == "stand" else np.array(goal[:3])
                error = self._sum / self._count - wanted
                self._squares += (error[0] ** 2 + error[1] ** 2, error[2] ** 2)
                self.windows += 1
            self._sum, self._count = np.zeros(3), 0
            self._begin += WINDOW_S * math.floor(passed / WINDOW_S)
        if passed >= 0.0:
            self._sum += motion
            self._count += 1

    def rmse(self) -> tuple[float | None, float | None]:
        """Error of ground velocity [m/s] and yaw rate [rad/s]; None without a window."""
        if not self.windows:
            return None, None
        velocity, yaw_rate = np.sqrt(self._squares / self.windows)
        return float(velocity), float(yaw_rate)


def _way(begin: GroundTruth | StateEstimate, end: GroundTruth | StateEstimate) -> float:
    """From one state to another, over the ground [m]."""
    return float(np.hypot(*(end.q[:2] - begin.q[:2])))


class DrivingMetrics:
    """Takes the states of a driven run as they come, in bounded memory.

    Attributes:
        goals: what is asked for.
        distance: length of the base's path over the ground [m].
    """

    def __init__(self, config: LaunchConfig) -> None:
        """Measure a driven launch."""
        self.goals, self.distance = GoalWatch(config), 0.0
        world = config.simulation
        self._weight = GRAVITY * (config.robot_model.mass * world.mass_scale + world.payload_mass)
        self._error = FollowingError()
        self._first: GroundTruth | StateEstimate | None = None
        self._last: GroundTruth | StateEstimate | None = None

    def add(self, state: GroundTruth | StateEstimate) -> None:
        """Take a state in; estimates know neither work nor slip."""
        self._error.add(state.time, self.goals.at(state.time), motion_in_heading(state))
        if self._last is not None:
            self.distance += _way(self._last, state)
        self._first, self._last = self._first or state, state

    def summary(self) -> dict[str, float | None]:
        """The measures by the names that rows have; None where it is unknown."""
        velocity, yaw_rate = self._error.rmse()
        cost = slip = None
        first, last = self._first, self._last
        moved = 0.0 if first is None or last is None else _way(first, last)
        if isinstance(first, GroundTruth) and isinstance(last, GroundTruth):
            slip = last.foot_slip - first.foot_slip
            if self.distance > 0.0:
                cost = (last.work - first.work) / (self._weight * self.distance)
        return {
            "velocity_rmse_m_s": velocity,
            "yaw_rate_rmse_rad_s": yaw_rate,
            "cost_of_transport": cost,
            "foot_slip_m": slip,
            "distance_m": self.distance,
            "displacement_m": moved,
            "max_lateral_deviation_m": None,  # from no straight line
        }
