"""A reference that is driven: each horizon is made anew from the command that is in force."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from controller.driving.base_path import COLUMNS, FORWARD, HEIGHT, YAW, X, extend_path
from controller.driving.footholds import choose_footholds
from controller.driving.goal import Commands, Goal
from controller.driving.options import DriveOptions
from controller.driving.strides import Strides
from controller.driving.window import fill_window
from controller.gaits import GAITS
from controller.references.kinematic import make_kinematic_reference
from controller.references.trajectory import ReferenceTrajectory, ReferenceWindow
from robots.a1.constants import FOOT_RADIUS, STAND_JOINTS
from robots.a1.kinematics import foot_positions_in_base
from robots.a1.mujoco_model import load_mujoco
from robots.kinematic_tree import tree_of
from robots.rotations import Array

LOOKAHEAD_S = 1.0  # of path and strides beyond a horizon: its last foothold depends on them
REST = 0.02  # [m/s], [rad/s] below which the base counts as at rest: its feet may stand
LONGEST_LEAP = 1000  # knots that one call may go on by


class DrivenReference:
    """Base path, strides and footholds from a knot on; moves on with the plans.

    Attributes:
        goal: what is asked for; the strides that have not begun yet follow it.
        base: (7) where the reference has the base at its knot, see `base_path`.
        knot: of `base`.
        height: of the trunk in the standing posture [m].
    """

    def __init__(
        self, options: DriveOptions, period: float, commands: Commands | None = None
    ) -> None:
        """Stand at the origin at knot 0.

        Args:
            options: of driving.
            period: between knots [s].
            commands: where goals come from, by the time since knot 0; None leaves it to `goal`.
        """
        feet = foot_positions_in_base(STAND_JOINTS)
        self.options, self.goal, self.knot = options, Goal(), 0
        self.height = float(FOOT_RADIUS - feet[:, 2].mean())
        self._period, self._tree = period, tree_of(load_mujoco())
        self._neutral = feet + np.array([0.0, 0.0, self.height])
        self._holds = self._neutral.copy()  # footholds, of feet in the air the last ones
        self.base = np.zeros(COLUMNS)
        self.base[HEIGHT] = self.height
        self._strides = Strides(period)
        self.commands, self._is_placed = commands, False
        self._gains = {gait: np.zeros((1, 12, 36)) for gait in GAITS}  # by knot of a stride

    def prepare(self, schedule: Callable[[ReferenceTrajectory], Array]) -> DrivenReference:
        """Take the gains of each gait on the spot, which `schedule` gives along a trajectory.

        They act on the difference from the reference in its own axes, so they hold for any heading.
        """
        for name, gait in GAITS.items():
            trajectory = make_kinematic_reference(gait, 0.0, self._period)
            last = schedule(trajectory)[-trajectory.loop :]
            phase = trajectory.size - trajectory.loop - round(gait.start / self._period)
            self._gains[name] = np.roll(last, phase % trajectory.loop, axis=0)
        return self

    def window(self, start: int, knots: int, state: Array | None = None) -> ReferenceWindow:
        """The reference from knot `start` over `knots` intervals, of a robot in `state` (37) there.

        Of a start before the last one, the knots before the last one are held as that one is.
        """
        self._go_on(min(max(start, self.knot), self.knot + LONGEST_LEAP))
        if self.commands is not None:
            self.goal = self.commands.goal(self.knot * self._period)
        if state is not None:
            self._meet(state)
        path, swings, heights, targets = self._look_ahead(knots)
        q, v = np.empty((knots + 1, 19)), np.empty((knots + 1, 18))
        inputs, contacts = np.empty((knots, 12)), np.empty((knots + 1, 4))
        fill_window(
            self._tree, path, self.knot, self._period, swings, heights, targets, self._holds,
            q, v, inputs, contacts,
        )  # fmt: skip
        window = ReferenceWindow(q, v, inputs, self._gains_of(knots), contacts)
        if start >= self.knot:
            return window
        rows = np.maximum(np.arange(start, start + knots + 1) - self.knot, 0)
        inner = rows[:-1]
        return ReferenceWindow(
            q[rows], v[rows], inputs[inner], window.gains[inner], contacts[rows]
        )  # fmt: skip

    def _gains_of(self, knots: int) -> Array:
        """The gains (N, 12, 36) of the knots from now on."""
        gains = np.empty((knots, 12, 36))
        for k in range(knots):
            stride = self._strides.at(self.knot + k)
            table = self._gains[stride.gait.name]
            gains[k] = table[(self.knot + k - stride.begin) % len(table)]
        return gains

    def _meet(self, state: Array) -> None:
        """Begin where the robot is; from then on stay within reach of it."""
        yaw = float(np.arctan2(
            2.0 * (state[6] * state[5] + state[3] * state[4]),
            1.0 - 2.0 * (state[4] ** 2 + state[5] ** 2),
        ))  # fmt: skip
        if self._is_placed:
            self.follow(state[:2], yaw)
            return
        self._is_placed = True
        move = state[:2] - self.base[X : X + 2]
        self.base[X : X + 2] += move
        self._holds[:, :2] += move
        self._turn(yaw - float(self.base[YAW]))

    def follow(self, position: Array, yaw: float) -> None:
        """Keep the reference within reach of a robot at `position` (2) [m] and `yaw` [rad]."""
        o = self.options
        away = self.base[X : X + 2] - position
        distance = float(np.hypot(*away))
        if o.goal_distance is not None and distance > o.goal_distance:
            move = (o.goal_distance / distance - 1.0) * away
            self.base[X : X + 2] += move
            self._holds[:, :2] += move
        turned = (self.base[YAW] - yaw + np.pi) % (2.0 * np.pi) - np.pi
        if o.goal_heading is not None and abs(turned) > o.goal_heading:
            self._turn(float(np.copysign(o.goal_heading, turned) - turned))

    def _turn(self, angle: float) -> None:
        """Turn the reference and its footholds about the base by `angle` [rad]."""
        c, s = np.cos(angle), np.sin(angle)
        self.base[YAW] += angle
        arms = self._holds[:, :2] - self.base[X : X + 2]
        self._holds[:, :2] = self.base[X : X + 2] + arms @ np.array([[c, s], [-s, c]])

    def _go_on(self, to: int) -> None:
        """Move base, footholds and strides on to knot `to`."""
        path, swings, _, targets = self._look_ahead(to - self.knot)
        for (foot, _, landing), target in zip(swings, targets, strict=True):
            if landing <= to + 1e-7:
                self._holds[int(foot)] = target
        self.base, self.knot = path[to - self.knot].copy(), to
        self._strides.forget(to)

    def _look_ahead(self, knots: int) -> tuple[Array, Array, Array, Array]:
        """Path, swings, their heights and footholds from now on, beyond `knots` intervals."""
        beyond = knots + round(LOOKAHEAD_S / self._period)
        path = np.empty((beyond + 1, COLUMNS))
        path[0] = self.base
        goal, o = self.goal, self.options
        velocity = (goal.forward, goal.left, goal.yaw_rate) if goal.gait != "stand" else (0.0,) * 3
        height, limits = self.height if goal.height is None else goal.height, o.limits(goal.gait)
        most = (
            limits.acceleration, limits.acceleration, limits.yaw_acceleration, o.height_rate
        )  # fmt: skip
        extend_path(path, np.array([*velocity, height]), np.array(most), self._period)
        moving = np.any(np.abs(path[:, FORWARD:HEIGHT]) > REST, axis=1)
        self._strides.ask(goal.gait, self.knot, moving)
        swings = self._strides.swings()
        swings = swings[swings[:, 2] > self.knot + 1e-7]
        lifts = [self._strides.at(round(lift)) for lift in swings[:, 1]]
        heights, targets = np.array([each.gait.swing_height for each in lifts]), swings.copy()
        choose_footholds(path, self.knot, self._period, swings, self._neutral, targets)
        return path, swings, heights, targets
