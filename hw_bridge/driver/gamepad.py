"""A gamepad's sticks as commands, while its dead-man trigger or button is held."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hw_bridge.driver.options import GamepadOptions, StickOptions
from hw_bridge.driver.sticks import StickDriver, Sticks
from hw_bridge.joystick import AXIS, BUTTON, JoystickEvent
from runtime.messages import Command

FULL: Final = 32767  # an axis at its end (Linux, joystick-api.rst)
# Some drivers report 0, the middle, of a trigger that nobody has touched yet.
HELD: Final = FULL // 2


class GamepadDriver(StickDriver):
    """Left stick forward and sideways, right stick turns; nobody holds the dead man: a stand.

    Attributes:
        is_gone: the gamepad has gone; from then on there are no commands.
    """

    def __init__(
        self, options: GamepadOptions | None = None, sticks: StickOptions | None = None
    ) -> None:
        """Stand until the first events."""
        super().__init__(sticks)
        self.is_gone = False
        self._numbers = options or GamepadOptions()
        self._axes: dict[int, int] = {}
        self._buttons: dict[int, int] = {}

    def take(self, events: Iterable[JoystickEvent]) -> None:
        """Take events in their order."""
        before = self.sticks
        for event in events:
            if event.kind in (AXIS, BUTTON):
                state = self._axes if event.kind == AXIS else self._buttons
                state[event.number] = event.value
        self.has_changed |= self.sticks != before

    @property
    def sticks(self) -> Sticks:
        """Where the sticks are; in the middle where nobody holds the dead man."""
        if not self._held:
            return Sticks()
        numbers = self._numbers
        return Sticks(*(
            -self._axes.get(axis, 0) / FULL
            for axis in (numbers.forward, numbers.left, numbers.turn)
        ))  # fmt: skip

    def command(self, now: float) -> Command | None:
        """The command at `now` [s]; None once the gamepad has gone."""
        return None if self.is_gone else super().command(now)

    @property
    def _held(self) -> bool:
        axis, button = self._numbers.dead_man_axis, self._numbers.dead_man_button
        pulled = axis is not None and self._axes.get(axis, 0) > HELD
        return pulled or (button is not None and self._buttons.get(button, 0) != 0)
