"""Devices that drive: what has come from them goes to their driver."""

from __future__ import annotations

from typing import Protocol

from hw_bridge.driver.gamepad import GamepadDriver
from hw_bridge.driver.keys import CommandBounds, KeyDriver
from hw_bridge.driver.options import KeyOptions, SourceOptions
from hw_bridge.driver.pacer import Driver
from hw_bridge.joystick import Joystick
from hw_bridge.operator.keyboard import Keyboard
from hw_bridge.states import Request

QUIT = "q"


class Device(Protocol):
    """A keyboard or a gamepad, and the driver that it feeds.

    Attributes:
        quit: somebody pressed the key that ends driving.
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
        """Hand over what has come. Never blocks, never raises."""
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
        """Hand over what has come. Never blocks, never raises."""
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
        """Hand over what has come. Never blocks, never raises."""
        self.driver.take(self._joystick.events())
        self.driver.is_gone = not self._joystick.open

    def close(self) -> None:
        """Let go of the device; safe to call twice."""
        self._joystick.close()
