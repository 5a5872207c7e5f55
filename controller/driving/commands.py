"""Commands of a driven robot: goals, checks of commands, scripts, and when their feet step."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import msgspec
import numpy as np

from controller.gaits import GAITS
from controller.options import DriveOptions
from robots.conventions import FOOT_NAMES
from runtime.messages import Command
from runtime.options import Options, Range

if TYPE_CHECKING:
    from robots.robot import Robot
    from robots.rotations import Array

AUTO = "auto"
# Speed [m/s] that `auto` counts for a yaw rate of 1 rad/s: that of a foot, 0.24 m from the centre.
SPEED_OF_TURN = 0.24
WALK_BELOW, TROT_ABOVE = 0.25, 0.35  # [m/s] between them `auto` keeps its gait


class Goal(NamedTuple):
    """A command that may be followed, in the base's heading."""

    forward: float = 0.0  # [m/s]
    left: float = 0.0  # [m/s]
    yaw_rate: float = 0.0  # [rad/s]
    height: float | None = None  # of the trunk [m]; None: as it stands
    gait: str = "stand"  # which goes nowhere, whatever the velocities


def sequence_of(commands: CommandIntake | None) -> int:
    """The number of the command in force; -1 without one."""
    newest = None if commands is None else commands.newest
    return -1 if newest is None else newest.sequence


class CommandIntake:
    """The goal that the newest good command sets.

    A command is refused that is not finite, names an unknown gait, or is not newer than the one
    before; after a silence the numbers may begin anew, for another source may have come. A command
    of zero velocity is one to stand, whatever its gait.

    Attributes:
        newest: the command in force; None before the first, and in silence.
        counts: commands accepted, of these clipped, refused (by cause), and silences.
    """

    def __init__(self, options: DriveOptions) -> None:
        """Stand until the first command."""
        self._options = options
        self._arrival = -math.inf
        self._goal = Goal()
        self._gait = "walk"  # that `auto` chose last
        self._is_over = False
        self.newest: Command | None = None
        self.counts: Counter[str] = Counter()

    def offer(self, command: Command, now: float) -> bool:
        """Take a command that arrived at `now` [s]; False where it is refused."""
        cause = self._refusal(command, now)
        self.counts[cause or "accepted"] += 1
        if cause:
            return False
        self.newest, self._arrival = command, now
        self._goal = self._limited(command)
        return True

    def look(self, now: float) -> None:
        """At `now` [s], stand if the source has been silent for too long."""
        if self.newest is not None and now - self._arrival > self._options.silence:
            self.newest, self._goal = None, self._goal._replace(gait="stand")
            self.counts["silences"] += 1

    def goal(self, time: float = 0.0) -> Goal:
        """The goal in force, whatever the `time` [s] since the first plan."""
        return self._goal

    def end(self) -> None:
        """From now on the goal is to stand; later commands are refused."""
        self._goal, self._is_over = Goal(), True

    def _refusal(self, command: Command, now: float) -> str:
        """The reason to refuse a command; "" without one."""
        if self._is_over:
            return "over"
        numbers = (command.forward, command.left, command.yaw_rate, command.height or 0.0)
        if not all(map(math.isfinite, numbers)):
            return "not_finite"
        if command.gait != AUTO and command.gait not in GAITS:
            return "unknown_gait"
        lively = self.newest is not None and now - self._arrival <= self._options.silence
        if self.newest is not None and lively and command.sequence <= self.newest.sequence:
            return "old"
        return ""

    def _limited(self, command: Command) -> Goal:
        """The goal of a command: its gait chosen, its numbers within the limits of that gait."""
        gait = self._choose(command)
        limits, (low, high) = self._options.limits(gait), self._options.height
        wanted = (command.forward, command.left, command.yaw_rate)
        most = (limits.forward, limits.left, limits.yaw_rate)
        velocity = tuple(min(m, max(-m, w)) for w, m in zip(wanted, most, strict=True))
        height = command.height
        if height is not None:
            height = min(high, max(low, height))
        self.counts["clipped"] += height != command.height or velocity != wanted
        forward, left, yaw_rate = velocity
        return Goal(forward, left, yaw_rate, height, gait)

    def _choose(self, command: Command) -> str:
        """The gait of a command."""
        speed = math.hypot(command.forward, command.left) + SPEED_OF_TURN * abs(command.yaw_rate)
        if speed == 0.0 or command.gait != AUTO:
            return command.gait if speed > 0.0 else "stand"
        if speed > TROT_ABOVE or speed < WALK_BELOW:
            self._gait = "trot" if speed > TROT_ABOVE else "walk"
        return self._gait


class ScriptStep(Options, frozen=True):
    """A command from a time on; a field that is not named keeps its value.

    Attributes:
        at: time since the first plan.
        velocity_x: speed forward, in the base's heading.
        velocity_y: speed to the left, in the base's heading.
        yaw_rate: rate of turn to the left.
        height: height of the trunk.
        gait: stand, walk, trot, bound, or auto: chosen by speed.
    """

    at: Annotated[float, Range("s", 0.0, 1e6)]
    velocity_x: Annotated[float, Range("m/s", -5.0, 5.0)] | None = None
    velocity_y: Annotated[float, Range("m/s", -5.0, 5.0)] | None = None
    yaw_rate: Annotated[float, Range("rad/s", -10.0, 10.0)] | None = None
    height: Annotated[float, Range("m", 0.0, 1.0)] | None = None
    gait: str | None = None

    def check(self) -> None:
        """Raise ValueError for an unknown gait, or a number out of range."""
        if self.gait is not None and self.gait not in (*GAITS, AUTO):
            raise ValueError(f"gait is {self.gait!r}; accepted: {', '.join(GAITS)}, {AUTO}")


class CommandScript(CommandIntake):
    """Commands that follow each other at given times."""

    def __init__(self, steps: Sequence[ScriptStep], options: DriveOptions, gait: str) -> None:
        """Before the first step, all is zero; `gait` holds until a step names one.

        Raises:
            ValueError: a step that is not later than the one before.
        """
        super().__init__(options)
        self._commands: list[Command] = []
        command = Command(sequence=0, time=-1.0, forward=0.0, left=0.0, yaw_rate=0.0, gait=gait)
        for step in steps:
            if step.at <= command.time:
                raise ValueError(f"a step at {step.at:g} s follows one at {command.time:g} s")
            values = {
                "forward": step.velocity_x, "left": step.velocity_y, "yaw_rate": step.yaw_rate,
                "height": step.height, "gait": step.gait,
            }  # fmt: skip
            changes = {name: value for name, value in values.items() if value is not None}
            command = msgspec.structs.replace(
                command, sequence=command.sequence + 1, time=step.at, **changes
            )
            self._commands.append(command)

    def goal(self, time: float = 0.0) -> Goal:
        """The goal at `time` [s]; a nanosecond of slack: knot times are sums of 0.01 s."""
        while self._commands and self._commands[0].time <= time + 1e-9:
            command = self._commands.pop(0)
            self.offer(command, command.time)
        return self._goal


class ScriptClock:
    """The strides that a script leads to, from the knots at which plans start.

    They depend on the commands alone, not on where the robot is: a push changes none of them, but
    those of a robot that stands, which steps when it is pushed.
    """

    def __init__(
        self, commands: CommandIntake, options: DriveOptions, robot: Robot, period: float,
        starts: Iterable[int],
    ) -> None:  # fmt: skip
        """Go through a whole script without a robot.

        Args:
            commands: of the script, at its beginning.
            options: of driving.
            robot: that is driven.
            period: between knots [s].
            starts: knots at which plans start, in order; the last one ends the run.
        """
        from controller.driving.course import Course  # loads the compiler

        course = Course(options, robot, period, commands)
        swings: dict[tuple[int, float], float] = {}
        for start in starts:
            course.go_on(start, course.look_ahead(start - course.knot).path)
            course.obey()
            # Strides may change until they begin, and none has a swing before it does.
            begun = course.strides.swings()
            swings |= {(int(foot), lift): land for foot, lift, land, _ in begun if lift < start}
        self._end = period * course.knot
        self._swings = [
            period * np.array(sorted((lift, land) for (f, lift), land in swings.items() if f == i))
            .reshape(-1, 2) for i in range(len(FOOT_NAMES))
        ]  # fmt: skip

    def phase_start(self, foot: str, phase: str, cycle: int) -> float:
        """Time at which a phase of a foot begins [s]; a swing comes before its stance.

        Raises:
            ValueError: the foot has not so many swings in this script.
        """
        lift, land = self._swing(foot, cycle)
        return lift if phase == "swing" else land

    def phase_duration(self, foot: str, phase: str, cycle: int) -> float:
        """Length of a phase of a foot [s]; the last stance lasts to the end of the run.

        Raises:
            ValueError: as `phase_start` does.
        """
        lift, land = self._swing(foot, cycle)
        if phase == "swing":
            return land - lift
        swings = self._swings[FOOT_NAMES.index(foot)]
        after = swings[cycle + 1, 0] if cycle + 1 < len(swings) else max(self._end, land)
        return float(after - land)

    def contacts(self, time: float) -> Array:
        """Feet on the ground at `time` [s], (4,) of zeros and ones."""
        now = time + 1e-9  # of slack: knot times are sums of 0.01 s
        return np.array([
            not np.any((each[:, 0] <= now) & (now < each[:, 1])) for each in self._swings
        ], dtype=np.float64)  # fmt: skip

    def _swing(self, foot: str, cycle: int) -> tuple[float, float]:
        """Lift-off and landing of a swing [s]."""
        swings = self._swings[FOOT_NAMES.index(foot)]
        if cycle >= len(swings):
            raise ValueError(
                f"{foot} swings {len(swings)} times in this script; give a cycle from 0, below that"
            )
        return float(swings[cycle, 0]), float(swings[cycle, 1])
