"""The path that the body is asked to follow, and how it returns to it."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from controller.centroidal.rigid_body import standing_body
from controller.driving.commands import CommandIntake
from controller.driving.course import (
    COLUMNS,
    FORWARD,
    HEIGHT,
    LEFT,
    LONGEST_LEAP,
    SLACK,
    YAW,
    YAW_RATE,
    Ahead,
    Course,
    CourseSchedule,
    X,
    Y,
)
from controller.driving.footholds import fit_planes, tilt_of
from controller.gaits import ContactSchedule, Gait
from controller.options import DriveOptions
from controller.planner_options import CentroidalOptions, PathOptions
from robots.legs import foot_positions_in_base
from robots.robot import Robot
from robots.rotations import Array, rotation_from_quaternion
from robots.terrain import Ground, make_ground


class Path(Protocol):
    """The body's desired motion, and when the feet step.

    It answers in axes that are the world's turned about its origin by `heading`, along which the
    path leads at the time of the last `meet`: in them the body's yaw is small.
    """

    @property
    def commands(self) -> CommandIntake | None:
        """Source of the commands; None where the path is fixed."""
        ...

    @property
    def schedule(self) -> ContactSchedule:
        """The swings of the feet."""
        ...

    @property
    def heading(self) -> float:
        """See above [rad]."""
        ...

    def meet(self, time: float, state: Array, com: Array) -> None:
        """Take in the robot at `time` [s]: its state (37), and its centre of mass (3) [m]."""
        ...

    def states(self, time: float, com: Array, times: Array) -> Array:
        """Desired x (K, 12) at `times` [s] for a body at `com` (3) at `time`: see `rigid_body`."""
        ...


def way_back(options: PathOptions, away: Array) -> Array:
    """Velocity (2) [m/s] that leads a body back from where it is `away` (2) [m] from its path.

    A controller that saw all of a metre's error at once would fall over it.
    """
    back = options.return_rate * away
    length = float(np.hypot(*back))
    if length > options.return_speed:
        back *= options.return_speed / length
    return back


class CommandedPath:
    """Straight ahead along x, level, at the gait's own distance law.

    Attributes:
        schedule: the gait; commands, heading: see `Path`.
    """

    commands: CommandIntake | None = None
    heading = 0.0

    def __init__(self, options: PathOptions, gait: Gait, speed: float) -> None:
        """`speed` is forward [m/s]."""
        self.schedule = gait
        self._options, self._speed = options, speed
        self._start: Array | None = None

    def meet(self, time: float, state: Array, com: Array) -> None:
        """Begin where the centre of mass (3) [m] is at first."""
        self._start = com.copy() if self._start is None else self._start

    def position(self, time: float) -> Array:
        """Centre of mass that the path has at `time` [s]: (3,) [m]."""
        assert self._start is not None, "meet the robot first"
        return self._start + np.array([self.schedule.distance(time, self._speed), 0.0, 0.0])

    def velocity(self, time: float, com: Array) -> Array:
        """Velocity to ask for at `time` [s] of a body whose centre of mass is at `com`: (3,) [m/s].

        The path's own, and the way back sideways and along it.
        """
        h = 0.5e-3
        along = (self.position(time + h)[0] - self.position(time - h)[0]) / (2.0 * h)
        back = way_back(self._options, (self.position(time) - com)[:2])
        return np.array([along + back[0], back[1], 0.0])

    def states(self, time: float, com: Array, times: Array) -> Array:
        """Desired x (K, 12) at `times` [s] for a body at `com` (3) at `time`: see `rigid_body`."""
        velocity = self.velocity(time, com)
        states = np.zeros((len(times), 12))
        states[:, 3:5] = com[:2] + np.outer(times - time, velocity[:2])
        states[:, 5] = self.position(time)[2]
        states[:, 9:12] = velocity
        return states


class DrivenPath:
    """The path of a driven robot: that of a course, which follows commands and the robot.

    Time is that since the first plan. Commands are taken once a knot, when it has begun. While no
    foot is to step the body belongs over its feet: led back to where the path had it, it would fall
    over them.

    Attributes:
        course: base path and strides, from the last knot on.
        com: centre of mass of the standing robot in its base (3) [m].
        schedule, heading: see `Path`.
    """

    def __init__(
        self, options: CentroidalOptions, robot: Robot, drive: DriveOptions,
        commands: CommandIntake | None = None, ground: Ground | None = None,
    ) -> None:  # fmt: skip
        """Stand, on `ground` or a level floor; without `commands` the goal is the course's."""
        self._legs, self._ground = robot.legs, ground or make_ground()
        self.course = Course(drive, robot, options.period, commands)
        self.schedule, self.heading = CourseSchedule(), 0.0
        self._options = options.path
        self._knots = math.ceil(options.horizon / options.period) + 1
        self.com = standing_body(robot).com_in_base
        self._ahead: Ahead | None = None
        self._table = np.zeros((0, COLUMNS + 3))  # path ahead, and the planes below it

    @property
    def commands(self) -> CommandIntake | None:
        """Source of the commands."""
        return self.course.commands

    def meet(self, time: float, state: Array, com: Array) -> None:
        """Move on to `time` [s] and stay within reach of the robot in `state` (37)."""
        course = self.course
        begun = max(course.knot, (time + SLACK) / course.period)  # of those after the last one
        knot = int(min(begun, course.knot + LONGEST_LEAP))
        if self._ahead is None or knot > course.knot:
            course.go_on(knot, course.look_ahead(knot - course.knot).path)
            course.obey()
            course.meet(state)
            if self.schedule.is_stand:
                course.base[X : Y + 1] = self._over_feet(state)
            self._ahead = course.look_ahead(self._knots)
            self.schedule.follow(course, self._ahead)
            path = self._ahead.path
            planes = np.empty((len(path), 3))
            fit_planes(path, course.knot, course.period, self._ground, planes)
            self._table = np.hstack((path, planes))
        self.heading = float(self._rows(np.array([time]))[0, YAW])

    def states(self, time: float, com: Array, times: Array) -> Array:
        """Desired x (K, 12) at `times` [s] for a body at `com` (3) at `time`: see `rigid_body`.

        The path's motion from where the body is, and the way back to the path.
        """
        path = self._motion(np.append(time, times))
        now, states = path[0], path[1:]
        back = way_back(self._options, (now[3:5] - com[:2]))
        states[:, 3:5] += com[:2] - now[3:5] + np.outer(times - time, back)
        states[:, 9:11] += back
        return states

    def _over_feet(self, state: Array) -> Array:
        """Place of a base (2) [m] whose feet are on average below their neutral places."""
        rotation = rotation_from_quaternion(state[3:7])
        feet = foot_positions_in_base(self._legs, state[7:19]).mean(axis=0)
        feet = state[:3] + rotation @ feet
        neutral = self.course.feet[:, :2].mean(axis=0)
        return feet[:2] - plane_rotations(self.course.base[YAW]) @ neutral

    def _motion(self, times: Array) -> Array:
        """x (K, 12) of a body on the path at `times` [s]."""
        rows, x = self._rows(times), np.zeros((len(times), 12))
        x[:, 2], x[:, 8] = rows[:, YAW] - self.heading, rows[:, YAW_RATE]
        turns = plane_rotations(x[:, 2])
        arms = turns @ self.com[:2]  # of the centre of mass
        x[:, 3:5] = rows[:, X : Y + 1] @ plane_rotations(self.heading) + arms
        x[:, 9:11] = (turns @ rows[:, FORWARD : LEFT + 1, None])[:, :, 0]
        x[:, 9] -= rows[:, YAW_RATE] * arms[:, 1]
        x[:, 10] += rows[:, YAW_RATE] * arms[:, 0]
        for row, plane in zip(x, rows[:, COLUMNS:], strict=True):
            row[1], row[0] = tilt_of(plane)
        x[:, 5] = rows[:, HEIGHT] + rows[:, COLUMNS] + self.com[2]
        h = 0.5 * self.course.period
        change = self._rows(times + h) - self._rows(times - h)
        x[:, 11] = (change[:, HEIGHT] + change[:, COLUMNS]) / (2.0 * h)
        return x

    def _rows(self, times: Array) -> Array:
        """The path and the planes below it (K, 10) at `times` [s]; its ends hold."""
        assert len(self._table), "meet the robot first"
        path = self._table
        knots = times / self.course.period - self.course.knot
        k = np.clip(np.floor(knots), 0, len(path) - 2).astype(int)
        share = np.clip(knots - k, 0.0, 1.0)[:, None]
        return path[k] + share * (path[k + 1] - path[k])


def plane_rotations(angles: float | Array) -> Array:
    """Rotations in the plane by angles (...) [rad]: (..., 2, 2)."""
    c, s = np.cos(angles), np.sin(angles)
    return np.stack([np.stack([c, -s], axis=-1), np.stack([s, c], axis=-1)], axis=-2)
