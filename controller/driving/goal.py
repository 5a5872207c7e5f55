"""What a driven robot is asked to do, within its limits."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple, Protocol

from runtime.messages import Command


class Goal(NamedTuple):
    """A command that may be followed, in the base's heading."""

    forward: float = 0.0  # [m/s]
    left: float = 0.0  # [m/s]
    yaw_rate: float = 0.0  # [rad/s]
    height: float | None = None  # of the trunk [m]; None: as it stands
    gait: str = "stand"  # which goes nowhere, whatever the velocities


class Commands(Protocol):
    """Where a planner has its goal from: `Script`, or `CommandIntake`.

    Attributes:
        newest: the command in force; None before the first.
        counts: of commands, by what became of them.
    """

    @property
    def newest(self) -> Command | None:
        """See above."""
        ...

    @property
    def counts(self) -> Counter[str]:
        """See above."""
        ...

    def goal(self, time: float) -> Goal:
        """What is asked for at `time` [s] since the first plan."""
        ...

    def end(self) -> None:
        """The robot is to sit down: from now on it shall stand, whatever is asked for."""
        ...


def sequence_of(commands: Commands | None) -> int:
    """The number of the command in force; -1 without one."""
    newest = None if commands is None else commands.newest
    return -1 if newest is None else newest.sequence
