"""Judges commands as they come: refuses what is none, clips what is too much, notices silence."""

from __future__ import annotations

import math
from collections import Counter

from controller.driving.goal import Goal
from controller.driving.options import DriveOptions
from controller.gaits import GAITS
from runtime.messages import Command

AUTO = "auto"
# Speed [m/s] that `auto` counts for a yaw rate of 1 rad/s: that of a foot, 0.24 m from the centre.
SPEED_OF_TURN = 0.24
WALK_BELOW, TROT_ABOVE = 0.25, 0.35  # [m/s] between them `auto` keeps its gait


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
        """Notice at `now` [s] that the source has fallen silent: then the robot shall stand."""
        if self.newest is not None and now - self._arrival > self._options.silence:
            self.newest, self._goal = None, self._goal._replace(gait="stand")
            self.counts["silences"] += 1

    def goal(self, time: float = 0.0) -> Goal:
        """What is asked for, whatever the `time`."""
        return self._goal

    def end(self) -> None:
        """See `Commands`; later commands are refused."""
        self._goal, self._is_over = Goal(), True

    def _refusal(self, command: Command, now: float) -> str:
        """Why a command is refused; "" where it is not."""
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
