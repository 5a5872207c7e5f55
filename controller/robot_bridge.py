"""The robot as the tracker sees it: simulated, emulated or real, behind one protocol."""

from collections.abc import Callable
from typing import Protocol

from runtime.clock import Clock
from runtime.messages import MotorCommand, SensorReading


class RobotBridge(Protocol):
    """Owns the connection to the robot; nothing else differs between robots."""

    def read(self, clock: Clock, tick: int, stop: Callable[[], bool]) -> list[SensorReading]:
        """Return the readings that came since the last call, in order; the last is the newest.

        In real time it never blocks. In lock step it waits for the one reading of `tick` and
        returns none only when stopped or given up.
        """
        ...

    def write(self, command: MotorCommand) -> None:
        """Send a command to the twelve motors; never blocks."""
        ...

    def close(self) -> None:
        """Let go of the robot; safe to call twice."""
        ...
