"""The goal of a driven robot, as those know it who only look on: metrics and reports."""

from __future__ import annotations

import msgspec

from controller.driving.commands import CommandIntake, CommandScript, Goal
from runtime.messages import Command, RobotStatus
from saltus.configuration.launch import LaunchConfig

HOLDS_S = 1e6  # a command of a script holds until the next one: its source is never silent


class GoalWatch:
    """Which goal is in force at each state of a run.

    A script's goals go by the time since the first state, which makes them the same in every run.
    Other commands, and a script's on an A1 that has to stand up first, count as they arrive.
    """

    def __init__(self, config: LaunchConfig) -> None:
        """Of a driven launch."""
        script = config.script
        drive = config.drive
        if script is not None:
            drive = msgspec.structs.replace(drive, silence=HOLDS_S)
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
