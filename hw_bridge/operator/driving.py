"""Publishes the commands of a driver: devices, pace, and the run that they belong to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

import msgspec

from hw_bridge.operator.drivers import CommandBounds, GamepadDriver, KeyDriver, RemoteDriver
from hw_bridge.operator.gamepad import Joystick
from hw_bridge.operator.keyboard import Keyboard
from hw_bridge.options import KeyOptions, SourceOptions
from hw_bridge.states import Request
from hw_bridge.wire.remote import Remote
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
        """The command at `now` [s]; None for none."""
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


QUIT = "q"


class Device(Protocol):
    """A keyboard or a gamepad, and the driver that it feeds.

    Attributes:
        quit: the key that ends driving was pressed.
    """

    quit: bool

    @property
    def driver(self) -> Driver:
        """Makes commands of what came."""
        ...

    @property
    def loss(self) -> str:
        """Why nothing can come any more; empty while something can."""
        ...

    def fileno(self) -> int:
        """To wait with."""
        ...

    def poll(self) -> None:
        """Read pending events and pass them to the driver. Never blocks, never raises."""
        ...


class KeyDevice:
    """Keys of a terminal or of a pipe; those that stop a robot ask for a stand.

    Attributes:
        driver: what the keys drive.
        quit: q was pressed.
    """

    def __init__(self, fd: int, options: KeyOptions, bounds: CommandBounds) -> None:
        """Read keys from the open file `fd`."""
        self.driver, self.quit = KeyDriver(options, bounds), False
        self._fd, self._keyboard = fd, Keyboard(fd, self._press)

    @property
    def loss(self) -> str:
        """Why nothing can come any more; empty while something can."""
        return "" if self._keyboard.open else "the keyboard has gone"

    def fileno(self) -> int:
        """To wait with."""
        return self._fd

    def poll(self) -> None:
        """Read pending events and pass them to the driver. Never blocks, never raises."""
        if any(request is Request.STOP for request, _ in self._keyboard.poll()):
            self.driver.stand()

    def _press(self, keys: str) -> None:
        self.quit |= QUIT in keys
        self.driver.press(keys)


class GamepadDevice:
    """A gamepad.

    Attributes:
        driver: what it drives.
        quit: never: a gamepad has no such key.
    """

    quit = False

    def __init__(self, options: SourceOptions) -> None:
        """Open it.

        Raises:
            ValueError: it cannot be opened.
        """
        self._joystick = Joystick(options.gamepad.device, "sources.gamepad.device")
        self.driver = GamepadDriver(options.gamepad, options.sticks)

    @property
    def loss(self) -> str:
        """Why nothing can come any more; empty while something can."""
        return "" if self._joystick.open else "the gamepad has gone"

    def fileno(self) -> int:
        """To wait with."""
        return self._joystick.fileno()

    def poll(self) -> None:
        """Read pending events and pass them to the driver. Never blocks, never raises."""
        self.driver.take(self._joystick.events())
        self.driver.is_gone = not self._joystick.open

    def close(self) -> None:
        """Let go of the device; safe to call twice."""
        self._joystick.close()


class Steering:
    """Publishes commands while the stack has the robot, and only then.

    Attributes:
        pacer: counts them.
    """

    def __init__(self, driver: KeyDriver | RemoteDriver, publish: Publish) -> None:
        """Silent until the robot runs."""
        self.pacer = Pacer(driver, publish)
        self._driver, self._runs = driver, False

    def press(self, keys: str) -> None:
        """Take keys that are none of the operator's; what is typed before the run is dropped."""
        if self._runs and isinstance(self._driver, KeyDriver):
            self._driver.press(keys)

    def tick(self, now: float, runs: bool, remote: Remote) -> None:
        """Publish what is due at `now` [s].

        Args:
            now: monotonic [s].
            runs: whether the stack has the robot.
            remote: its newest state.
        """
        if runs is not self._runs:
            self._begin_or_end(runs)
        if not runs:
            return
        if isinstance(self._driver, RemoteDriver):
            self._driver.take(remote)
        self.pacer.tick(now)

    def _begin_or_end(self, runs: bool) -> None:
        """A run begins with a stand, whatever was held in the one before."""
        self._runs = runs
        if isinstance(self._driver, KeyDriver):
            self._driver.stand()
