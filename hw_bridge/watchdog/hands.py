"""The operator's hands: keyboard and gamepad, read in the watchdog's process."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from hw_bridge.operator.gamepad import Gamepad
from hw_bridge.operator.keyboard import Keyboard
from hw_bridge.states import RequestWithCause


class Hands:
    """What the operator asks for by keys and gamepad."""

    def __init__(
        self, options: dict[str, Any], keyboard_fd: int, other_keys: Callable[[str], None]
    ) -> None:
        """Open what `options`, those of `OperatorOptions` as plain data, name.

        Raises:
            ValueError: the gamepad cannot be opened.
        """
        path, buttons = options["gamepad"], SimpleNamespace(**options["gamepad_buttons"])
        self._keyboard = Keyboard(keyboard_fd, other_keys) if options["keyboard"] else None
        self._gamepad = None if path is None else Gamepad(path, buttons)

    @property
    def sources(self) -> list[int]:
        """File descriptors from which something may come."""
        means = (self._keyboard, self._gamepad)
        return [each.fileno() for each in means if each is not None and each.open]

    def poll(self) -> list[RequestWithCause]:
        """What has been asked for since the last call, stops first. Never blocks, never raises."""
        asked = [] if self._gamepad is None else self._gamepad.poll()
        return asked if self._keyboard is None else asked + self._keyboard.poll()
