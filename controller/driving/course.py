"""The course of a driven robot: where commands lead its base, and when its feet step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from controller.driving.base_path import COLUMNS, FORWARD, HEIGHT, YAW, X, extend_path
from controller.driving.goal import Commands, Goal
from controller.driving.options import DriveOptions
from controller.driving.strides import Strides
from robots.legs import foot_positions_in_base
from robots.robot import Robot
from robots.rotations import Array

LOOKAHEAD_S = 1.0  # of path and strides beyond a horizon: its last foothold depends on them
REST = 0.02  # [m/s], [rad/s] below which the base counts as at rest
STEP_ABOVE, STAND_BELOW = 0.3, 0.1  # [m/s] of a standing robot: pushed, and calm again
LONGEST_LEAP = 1000  # knots that a course may go on by at once
STEP_GAIT = "trot"  # in which a robot steps that is to stand and is pushed


class Ahead(NamedTuple):
    """The course over a horizon, and a second beyond.

    Attributes:
        path: of the base, (K, 7) see `base_path`.
        swings: (S, 4) see `Strides.swings`; those that are over are gone.
    """

    path: Array
    swings: Array


class Move(NamedTuple):
    """A move of the course: by `by` (2) [m], then about its base by `angle` [rad]."""

    by: Array
    angle: float


class Course:
    """Base path and strides from a knot on; moves on with the plans.

    Attributes:
        goal: what is asked for; the strides that have not begun yet follow it.
        base: (7) where the course has the base at its knot, see `base_path`.
        knot: of `base`.
        height: of the trunk in the standing posture [m].
        feet: (4, 3) below the standing base, z of their centres above the ground [m].
    """

    def __init__(
        self, options: DriveOptions, robot: Robot, period: float, commands: Commands | None = None
    ) -> None:
        """Stand at the origin at knot 0.

        Args:
            options: of driving.
            robot: that is driven.
            period: between knots [s].
            commands: where goals come from, by the time since knot 0; None leaves it to `goal`.
        """
        feet = foot_positions_in_base(robot.legs, robot.stand)
        self.options, self.commands, self.period = options, commands, period
        self.goal, self.knot = Goal(), 0
        self.height = float(robot.legs.foot_radius - feet[:, 2].mean())
        self.feet = feet + np.array([0.0, 0.0, self.height])
        self.base = np.zeros(COLUMNS)
        self.base[HEIGHT] = self.height
        self.strides = Strides(period)
        self._is_placed = self._is_pushed = False

    def meet(self, state: Array) -> Move:
        """Begin where the robot is in `state` (37); from then on stay within reach of it."""
        q, v = state[:19], state[19:]
        yaw = float(np.arctan2(
            2.0 * (q[6] * q[5] + q[3] * q[4]), 1.0 - 2.0 * (q[4] ** 2 + q[5] ** 2)
        ))  # fmt: skip
        speed = float(np.hypot(*(v[:2] - self.base[FORWARD : FORWARD + 2])))
        self._is_pushed = speed > (STAND_BELOW if self._is_pushed else STEP_ABOVE)
        if self._is_placed:
            return self.follow(q[:2], yaw)
        self._is_placed = True
        return self._move(q[:2] - self.base[X : X + 2], yaw - float(self.base[YAW]))

    def follow(self, position: Array, yaw: float) -> Move:
        """Stay within reach of a robot at `position` (2) [m] and `yaw` [rad]."""
        o, by, angle = self.options, np.zeros(2), 0.0
        away = self.base[X : X + 2] - position
        distance = float(np.hypot(*away))
        if o.goal_distance is not None and distance > o.goal_distance:
            by = (o.goal_distance / distance - 1.0) * away
        turned = (self.base[YAW] - yaw + np.pi) % (2.0 * np.pi) - np.pi
        if o.goal_heading is not None and abs(turned) > o.goal_heading:
            angle = float(np.copysign(o.goal_heading, turned) - turned)
        return self._move(by, angle)

    def _move(self, by: Array, angle: float) -> Move:
        self.base[X : X + 2] += by
        self.base[YAW] += angle
        return Move(by, angle)

    def obey(self) -> None:
        """Take the goal that is in force at this knot."""
        if self.commands is not None:
            self.goal = self.commands.goal(self.knot * self.period)

    def look_ahead(self, knots: int) -> Ahead:
        """The course of `knots` intervals from now on, and of a second beyond."""
        beyond = knots + round(LOOKAHEAD_S / self.period)
        path = np.empty((beyond + 1, COLUMNS))
        path[0] = self.base
        gait, goal, rates = self._gait(), *self._bounded()
        extend_path(path, goal, rates, self.period)
        limits = self.options.limits(gait)
        most = np.array([limits.forward, limits.left, limits.yaw_rate]) + REST
        slow = np.all(np.abs(path[:, FORWARD:HEIGHT]) <= most, axis=1)
        self.strides.ask(gait, self.knot, slow)
        swings = self.strides.swings()
        return Ahead(path, swings[swings[:, 2] > self.knot + 1e-7])

    def go_on(self, to: int, path: Array) -> None:
        """Move on to knot `to`, along the path that begins at the knot of now."""
        self.base, self.knot = path[to - self.knot].copy(), to
        self.strides.forget(to)

    def _gait(self) -> str:
        """The gait of the strides to come: a robot that is to stand and is pushed steps."""
        return STEP_GAIT if self._is_pushed and self.goal.gait == "stand" else self.goal.gait

    def _bounded(self) -> tuple[Array, Array]:
        """Velocities and height to go to (4), and their rates (4).

        They keep to the limits of the gait that is still under way, too.
        """
        o, goal = self.options, self.goal
        now = self.strides.at(self.knot).gait.name
        bounds = [o.limits(goal.gait), *([o.limits(now)] if now != "stand" else [])]
        wanted = np.array([goal.forward, goal.left, goal.yaw_rate])
        for each in bounds:
            most = (each.forward, each.left, each.yaw_rate)
            wanted = np.clip(wanted, np.negative(most), most)
        height, limits = self.height if goal.height is None else goal.height, bounds[-1]
        rates = (limits.acceleration, limits.acceleration, limits.yaw_acceleration, o.height_rate)
        return np.append(wanted, height), np.array(rates)
