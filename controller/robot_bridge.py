"""The robot as the tracker sees it: simulated, emulated or real, behind one protocol."""

from collections.abc import Callable
from typing import Protocol

from runtime.clock import Clock
from runtime.messages import MotorCommand, SensorReading


class RobotBridge(Protocol):
    """Owns the connection to the robot; nothing else differs between robots."""

    def read(self, clock: Clock, tick: int, stop: Callable[[], bool]) -> SensorReading | None:
        """Return the reading of this tick.

        In real time the newest reading, None if none came since the last call; never blocks. In
        lock step it waits for the reading of `tick` and returns None only when stopped or given up.
        """
        ...

    def write(self, command: MotorCommand) -> None:
        """Send a command to the twelve motors; never blocks."""
        ...

    def close(self) -> None:
        """Let go of the robot; safe to call twice."""
        ...
