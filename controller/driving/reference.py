"""A reference that is driven: each horizon is made anew from the command that is in force."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from controller.driving.commands import CommandIntake
from controller.driving.course import LONGEST_LEAP, Course, Move
from controller.driving.footholds import choose_footholds, fit_planes
from controller.driving.window import fill_window
from controller.options import DriveOptions
from controller.references.trajectory import ReferenceTrajectory, ReferenceWindow
from robots.kinematic_tree import tree_of
from robots.mujoco_model import load_mujoco
from robots.robot import Robot
from robots.rotations import Array
from robots.terrain import Ground, height_at, make_ground


class DrivenReference:
    """The course of a driven robot, and the footholds along it.

    Attributes:
        course: base path and strides.
    """

    def __init__(
        self, options: DriveOptions, robot: Robot, period: float,
        commands: CommandIntake | None = None, ground: Ground | None = None,
    ) -> None:  # fmt: skip
        """Stand at the origin at knot 0, on `ground` or a level floor; see `Course`."""
        self.course = Course(options, robot, period, commands)
        self._ground = ground or make_ground()
        self._robot, self._tree = robot, tree_of(load_mujoco(robot))
        self._holds = self.course.feet.copy()  # footholds, of feet in the air the last ones
        self._lower_holds()
        self._gains = np.zeros((0, 12, 36))  # of every window; made once, for it is large
        self._ahead: tuple[Array, Array, Array] | None = None  # of the last window

    @property
    def commands(self) -> CommandIntake | None:
        """Source of the commands."""
        return self.course.commands

    def prepare(self, schedule: Callable[[ReferenceTrajectory], Array]) -> DrivenReference:
        """The same: a start without feedback does as well."""
        return self

    def tilt(self, time: float) -> float:
        """None beside the slope below."""
        return 0.0

    def window(self, start: int, knots: int, state: Array | None = None) -> ReferenceWindow:
        """The reference from knot `start` over `knots` intervals, of a robot in `state` (37) there.

        Of a start before the last one, the knots before the last one are held as that one is.
        """
        course = self.course
        self._go_on(min(max(start, course.knot), course.knot + LONGEST_LEAP))
        course.obey()
        if state is not None:
            self._move(course.meet(state))
        path, swings, targets = self._look_ahead(knots)
        q, v = np.empty((knots + 1, 19)), np.empty((knots + 1, 18))
        inputs, contacts = np.empty((knots, 12)), np.empty((knots + 1, 4))
        planes = np.empty((len(path), 3))
        fit_planes(path, course.knot, course.period, self._ground, planes)
        fill_window(
            self._tree, self._robot.legs, self._robot.torque_limit, path, planes, course.knot,
            course.period, swings, targets, self._holds, q, v, inputs, contacts,
        )  # fmt: skip
        rows = np.maximum(np.arange(knots + 1) + min(0, start - course.knot), 0)
        if len(self._gains) != knots:
            self._gains = np.zeros((knots, 12, 36))
        return ReferenceWindow(q[rows], v[rows], inputs[rows[:-1]], self._gains, contacts[rows])

    def _move(self, move: Move) -> None:
        """Move the footholds with the course."""
        self._holds[:, :2] += move.by
        if move.angle:
            c, s = np.cos(move.angle), np.sin(move.angle)
            place = self.course.base[:2]
            arms = self._holds[:, :2] - place
            self._holds[:, :2] = place + arms @ np.array([[c, s], [-s, c]])
        self._lower_holds()

    def _lower_holds(self) -> None:
        """Set the footholds on the ground."""
        for hold, above in zip(self._holds, self.course.feet[:, 2], strict=True):
            hold[2] = height_at(self._ground, hold[0], hold[1]) + above

    def _go_on(self, to: int) -> None:
        """Move base, footholds and strides on to knot `to`, as the last window had them."""
        beyond = to - self.course.knot
        if self._ahead is None or beyond >= len(self._ahead[0]):
            self._look_ahead(beyond)
        assert self._ahead is not None
        path, swings, targets = self._ahead
        for (foot, _, landing, _), target in zip(swings, targets, strict=True):
            if landing <= to + 1e-7:
                self._holds[int(foot)] = target
        self.course.go_on(to, path)

    def _look_ahead(self, knots: int) -> tuple[Array, Array, Array]:
        """Path and swings of the course, and the footholds (S, 3) that these lead to [m]."""
        course = self.course
        path, swings = course.look_ahead(knots)
        targets = np.empty((len(swings), 3))
        choose_footholds(
            path, course.knot, course.period, swings, course.feet, self._ground, self._holds,
            targets,
        )  # fmt: skip
        self._ahead = path, swings, targets
        return self._ahead
