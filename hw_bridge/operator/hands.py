"""The operator's hands: keyboard and gamepad. Needs the standard library alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from hw_bridge.operator.gamepad import Gamepad
from hw_bridge.operator.keyboard import Keyboard
from hw_bridge.states import RequestWithCause


class Hands:
    """What the operator asks for by keys and gamepad; each of them that is silent ends the run."""

    def __init__(
        self, options: Mapping[str, Any], keyboard_fd: int,
        other_keys: Callable[[str], None] | None = None,
    ) -> None:  # fmt: skip
        """Open what `options` name; keys come from `keyboard_fd`, and `other_keys` takes the rest.

        Args:
            options: those of `OperatorOptions` as plain data.
            keyboard_fd: an open file.
            other_keys: takes the keys that are no requests.

        Raises:
            ValueError: the gamepad cannot be opened.
        """
        silence_s, path = options["silence_s"], options["gamepad"]
        buttons: Any = SimpleNamespace(**options["gamepad_buttons"])
        self._gamepad = None if path is None else Gamepad(path, buttons, silence_s)
        self._keyboard = (
            Keyboard(keyboard_fd, other_keys, silence_s) if options["keyboard"] else None
        )
        self._stops: list[RequestWithCause] = []  # asked for before the robot was there

    @property
    def sources(self) -> list[int]:
        """File descriptors from which something may come."""
        means = (self._gamepad, self._keyboard)
        return [each.fileno() for each in means if each is not None and each.open]

    def begin(self, now: float) -> None:
        """The robot is there: what was typed and pressed until now is dropped, but for a stop.

        From `now` on [s] a terminal that freezes is noticed. Never blocks, never raises.
        """
        if self._gamepad is not None:
            self._stops += self._gamepad.begin()
        if self._keyboard is not None:
            self._stops += self._keyboard.begin(now)

    def poll(self, now: float, up: bool) -> list[RequestWithCause]:
        """Return what has been asked for since the last call. Never blocks, never raises.

        Args:
            now: [s], of the clock of `begin`.
            up: whether the robot is off the ground, or on its way there.
        """
        asked, self._stops = self._stops, []
        if self._gamepad is not None:
            asked += self._gamepad.poll(now, up)
        if self._keyboard is not None:
            asked += self._keyboard.poll(now, up)
        return asked

    def close(self) -> None:
        """Let go of the devices; safe to call twice."""
        for each in (self._gamepad, self._keyboard):
            if each is not None:
                each.close()
