"""The course of a driven robot: where commands lead its base, and when its feet step.

Strides follow each other, and their gait may change wherever one ends. Between two gaits all feet
stand for a moment: some gaits land a foot where others lift it off. A robot that is to stand goes
on stepping until its reference has come to rest.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from controller.driving.commands import CommandIntake, Goal
from controller.gaits import GAITS, Gait, Swing
from controller.options import DriveOptions
from robots.legs import foot_positions_in_base
from robots.robot import Robot
from robots.rotations import Array

# Columns of a path: the base's place and heading in the world, and its velocity in the heading.
X, Y, YAW, FORWARD, LEFT, YAW_RATE, HEIGHT = range(7)
COLUMNS: Final = 7
Flags = NDArray[np.bool_]
STAND_KNOTS = 5  # of a stride on four standing feet: so soon can a gait begin, and change
LOOKAHEAD_S = 1.0  # of path and strides beyond a horizon: its last foothold depends on them
REST = 0.02  # [m/s], [rad/s] below which the base counts as at rest
STEP_ABOVE, STAND_BELOW = 0.3, 0.1  # [m/s] of a standing robot: pushed, and calm again
LONGEST_LEAP = 1000  # knots that a course may go on by at once
STEP_GAIT = "trot"  # in which a robot steps that is to stand and is pushed
SLACK = 1e-9  # [s]: knot times are sums of 0.01 s and must not fall before their event


@njit(cache=True)
def extend_path(path: Array, goal: Array, most: Array, period: float) -> None:
    """Write the rows of a path after its first one.

    Velocities and height go to their goals, each at a bounded rate and linearly between knots; the
    heading is its yaw rate's integral. The place is that of the velocity at the middle of each
    interval, along the heading there: exact to the second order in the period.

    Args:
        path: (K, 7) see the columns above; row 0 is where the base is.
        goal: (4) velocity forward and left [m/s], yaw rate [rad/s], height [m].
        most: (4) bounds of their rates of change.
        period: between rows [s].
    """
    for k in range(len(path) - 1):
        now, later = path[k], path[k + 1]
        for i in range(4):
            step = most[i] * period
            later[FORWARD + i] = now[FORWARD + i] + min(
                step, max(-step, goal[i] - now[FORWARD + i])
            )
        turn = 0.5 * (now[YAW_RATE] + later[YAW_RATE]) * period
        later[YAW] = now[YAW] + turn
        forward = 0.5 * (now[FORWARD] + later[FORWARD]) * period
        left = 0.5 * (now[LEFT] + later[LEFT]) * period
        c, s = np.cos(now[YAW] + 0.5 * turn), np.sin(now[YAW] + 0.5 * turn)
        later[X] = now[X] + c * forward - s * left
        later[Y] = now[Y] + s * forward + c * left


@njit(cache=True)
def pose_at(path: Array, knot: float) -> tuple[float, float, float]:
    """Return x, y [m] and yaw [rad] between the rows of a path; its ends hold."""
    place = min(max(knot, 0.0), len(path) - 1.0)
    k = min(int(place), len(path) - 2)
    s = place - k
    row = path[k] + s * (path[k + 1] - path[k])
    return row[X], row[Y], row[YAW]


class Stride(NamedTuple):
    """One stride of a gait."""

    gait: Gait
    begin: int  # its first knot
    knots: int  # that it takes

    @property
    def end(self) -> int:
        """First knot of the stride that follows."""
        return self.begin + self.knots


class Strides:
    """The strides around a planning horizon, in their order.

    Strides that have begun keep their gait; those after them take the one that is asked for.
    """

    def __init__(self, period: float, begin: int = 0) -> None:
        """Stand from knot `begin` on; knots are `period` [s] apart."""
        self._period = period
        self._strides = [self._stride("stand", begin)]

    def ask(self, gait: str, now: int, slow: Flags) -> None:
        """Have strides around a horizon, new ones of a gait by name.

        Args:
            gait: that is asked for.
            now: the horizon's first knot.
            slow: whether the base is slow enough for that gait at each of its knots (K).

        Raises:
            ValueError: a stride that is no multiple of the period.
        """
        begun = [each for each in self._strides if each.begin < now]
        begin = begun[-1].end if begun else self._strides[0].begin
        self._strides = begun
        while begin < now + len(slow):
            self._strides.append(self._stride(self._next(gait, slow[max(0, begin - now)]), begin))
            begin = self._strides[-1].end

    def _next(self, gait: str, is_slow: bool) -> str:
        """The gait of the stride after the last one; a base that is too fast keeps its gait."""
        names = [stride.gait.name for stride in reversed(self._strides)]
        last = names[0] if names else "stand"
        if not is_slow:
            return next((name for name in names if name != "stand"), last)
        return gait if "stand" in (gait, last) or gait == last else "stand"

    def forget(self, before: int) -> None:
        """Forget strides that ended before a knot, but for two: the next one's gait needs them."""
        ended = sum(each.end < before for each in self._strides)
        self._strides = self._strides[max(0, ended - 2) :]

    def at(self, knot: int) -> Stride:
        """The stride of a knot; the first one before all."""
        found = self._strides[0]
        for stride in self._strides:
            if stride.begin <= knot:
                found = stride
        return found

    def swings(self) -> Array:
        """Foot, lift-off and landing [knots], height [m] of every swing (S, 4), by lift-off."""
        rows = []
        for gait, begin, knots in self._strides:
            for foot, offset in enumerate(gait.offsets):
                if gait.duty < 1.0:
                    lift = begin + offset * knots
                    landing = lift + (1.0 - gait.duty) * knots
                    rows.append((foot, lift, landing, gait.swing_height))
        return np.array(sorted(rows, key=lambda row: row[1]), dtype=float).reshape(-1, 4)

    def _stride(self, name: str, begin: int) -> Stride:
        gait = GAITS[name]
        return Stride(gait, begin, gait.knots(self._period) if gait.duty < 1.0 else STAND_KNOTS)


class Ahead(NamedTuple):
    """The course over a horizon, and a second beyond.

    Attributes:
        path: of the base, (K, 7) see `extend_path`.
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
        base: (7) where the course has the base at its knot, see `extend_path`.
        knot: of `base`.
        height: of the trunk in the standing posture [m].
        feet: (4, 3) below the standing base, z of their centres above the ground [m].
    """

    def __init__(
        self,
        options: DriveOptions,
        robot: Robot,
        period: float,
        commands: CommandIntake | None = None,
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


class CourseSchedule:
    """The swings of the strides of a course."""

    def __init__(self) -> None:
        """All feet stand."""
        self._swings: list[list[Swing]] = [[] for _ in range(4)]

    @property
    def is_stand(self) -> bool:
        """Whether no foot swings, now or within what is known."""
        return not any(self._swings)

    def follow(self, course: Course, ahead: Ahead) -> None:
        """Take the swings of a course ahead."""
        self._swings = [[] for _ in range(4)]
        for foot, lift, _, height in ahead.swings.tolist():
            gait = course.strides.at(round(lift)).gait
            self._swings[int(foot)].append(
                Swing(lift * course.period, gait.swing_duration, height, gait.duty * gait.period)
            )

    def swing(self, foot: int, time: float) -> Swing | None:
        """See `ContactSchedule`."""
        for swing in self._swings[foot]:
            if swing.lift_off <= time + SLACK < swing.landing:
                return swing
        return None

    def next_swing(self, foot: int, time: float) -> Swing | None:
        """See `ContactSchedule`."""
        return next((s for s in self._swings[foot] if s.lift_off > time + SLACK), None)
