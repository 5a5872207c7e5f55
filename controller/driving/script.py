"""A command that was written down before: what is asked for, and from when on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

import msgspec

from controller.driving.goal import Goal
from controller.driving.intake import AUTO, CommandIntake
from controller.driving.options import DriveOptions
from controller.gaits import GAITS
from runtime.messages import Command
from runtime.options import Options, Range


class ScriptStep(Options, frozen=True):
    """What is asked for from a time on; what is not named stays as it was.

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

    def __post_init__(self) -> None:
        """Raise ValueError for an unknown gait, or a number out of range."""
        Options.__post_init__(self)
        if self.gait is not None and self.gait not in (*GAITS, AUTO):
            raise ValueError(f"gait is {self.gait!r}; accepted: {', '.join(GAITS)}, {AUTO}")


class CommandScript:
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

    def end(self) -> None:
        """See `Commands`."""
        self._intake.end()
