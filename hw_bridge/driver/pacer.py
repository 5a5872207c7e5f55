"""When commands go out: 50 times a second, and at once when something changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

import msgspec

from runtime.messages import Command

PERIOD_S: Final = 0.02
# After a command [s]: sticks that tremble must not fill every tick of a tracker.
LEAST_S: Final = 0.005

Publish = Callable[[Command], None]


class Driver(Protocol):
    """Anything that makes commands, with numbers that increase.

    Attributes:
        has_changed: since the last `command`.
    """

    has_changed: bool

    def command(self, now: float) -> Command | None:
        """The command at `now` [s]; None where nobody drives."""
        ...


class Pacer:
    """Publishes the commands of a driver; raises nothing.

    Attributes:
        last: the command that was published last.
        commands: number of commands.
        failures: of these, those that could not be published.
    """

    def __init__(self, driver: Driver, publish: Publish) -> None:
        """The first command is due at once."""
        self.last: Command | None = None
        self.commands = self.failures = 0
        self._driver, self._publish = driver, publish
        self._due = self._soonest = 0.0

    def wait(self, now: float) -> float:
        """How long until the next command, unless something changes meanwhile [s]."""
        return max(0.0, (self._soonest if self._driver.has_changed else self._due) - now)

    def tick(self, now: float) -> None:
        """Publish if it is time, at `now` [s]."""
        if now < self._due and (now < self._soonest or not self._driver.has_changed):
            return
        self._due, self._soonest = now + PERIOD_S, now + LEAST_S
        command = self._driver.command(now)
        if command is not None:
            self._send(command)

    def end(self, now: float) -> None:
        """Ask for a stand, where there was a command: a robot need not wait for the silence."""
        if self.last is not None:
            self._send(msgspec.structs.replace(
                self.last, sequence=self.last.sequence + 1, time=now, forward=0.0, left=0.0,
                yaw_rate=0.0,
            ))  # fmt: skip

    def _send(self, command: Command) -> None:
        self.last, self.commands = command, self.commands + 1
        try:
            self._publish(command)
        except Exception:
            self.failures += 1
