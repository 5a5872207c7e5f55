"""A command that was written down before: what is asked for, and from when on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import msgspec

from controller.driving.goal import Goal
from controller.driving.intake import AUTO, CommandIntake
from controller.driving.options import DriveOptions
from controller.gaits import GAITS
from runtime.messages import Command


class ScriptStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked for from a time on; what is not named stays as it was.

    Attributes:
        at: since the first plan [s].
        velocity_x, velocity_y: forward and left, in the base's heading [m/s].
        yaw_rate: to the left [rad/s].
        height: of the trunk [m].
        gait: stand, walk, trot, bound, or auto: chosen by speed.
    """

    at: float
    velocity_x: float | None = None
    velocity_y: float | None = None
    yaw_rate: float | None = None
    height: float | None = None
    gait: str | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for an unknown gait, or a time that is none."""
        if self.gait is not None and self.gait not in (*GAITS, AUTO):
            raise ValueError(f"unknown gait {self.gait!r}: use one of {', '.join(GAITS)}, {AUTO}")
        if not 0.0 <= self.at < math.inf:
            raise ValueError(f"at is {self.at}; give seconds >= 0")


class Script:
    """Commands that follow each other at given times.

    Attributes:
        newest: the command in force; None before the first.
        counts: of commands, by what became of them, see `CommandIntake`.
    """

    def __init__(self, steps: Sequence[ScriptStep], options: DriveOptions, gait: str) -> None:
        """Before the first step, all is zero; `gait` holds until a step names one.

        Raises:
            ValueError: a step that is not later than the one before.
        """
        self._intake = CommandIntake(options)
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

    @property
    def newest(self) -> Command | None:
        """See above."""
        return self._intake.newest

    @property
    def counts(self) -> Counter[str]:
        """See above."""
        return self._intake.counts

    def goal(self, time: float) -> Goal:
        """The goal at `time` [s]; a nanosecond of slack: knot times are sums of 0.01 s."""
        while self._commands and self._commands[0].time <= time + 1e-9:
            command = self._commands.pop(0)
            self._intake.offer(command, command.time)
        return self._intake.goal()
