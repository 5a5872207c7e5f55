"""Buttons of a gamepad as requests. Needs the standard library alone."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from hw_bridge.joystick import BUTTON, Joystick, JoystickEvent
from hw_bridge.states import Request, RequestWithCause

if TYPE_CHECKING:
    from hw_bridge.operator.options import GamepadButtons

LOG = logging.getLogger(__name__)
_MOST_READS = 256  # of what was pressed before: more than a device or a pipe holds


class Gamepad:
    """Requests by button; a gamepad that goes away or falls silent ends the run.

    A dongle may keep its device file when the gamepad is out of reach or power, and nothing then
    tells it from a gamepad at rest. So somebody has to move a stick or a trigger while the robot is
    up: an event at least every `silence_s`.
    """

    def __init__(self, path: str, buttons: GamepadButtons, silence_s: float = 1.0) -> None:
        """Open the device; `silence_s` is how long it may be silent while the robot is up [s].

        Raises:
            ValueError: it cannot be opened: nobody shall count on a stop that is not there.
        """
        self._joystick = Joystick(path, "operator.gamepad")
        self._meaning = {
            buttons.stand_up: Request.STAND_UP,
            buttons.run: Request.RUN,
            buttons.sit_down: Request.SIT_DOWN,
        } | dict.fromkeys(buttons.stop, Request.STOP)
        self._silence_s, self._heard = silence_s, 0.0  # heard when [s]
        self._ended = False  # the end was told, or nobody listens any more

    @property
    def open(self) -> bool:
        """Whether events may still come."""
        return self._joystick.open

    def fileno(self) -> int:
        """To wait for events with."""
        return self._joystick.fileno()

    def begin(self) -> list[RequestWithCause]:
        """Drop what was pressed before, and return the stop in it. Never blocks, never raises."""
        asked: list[RequestWithCause] = []
        for _ in range(_MOST_READS):
            events = self._joystick.events()
            if not events:  # a gamepad that has gone is the next poll's to tell
                break
            asked += self._requests(events)
        return [each for each in asked if each[0] is Request.STOP][:1]

    def poll(self, now: float = 0.0, up: bool = False) -> list[RequestWithCause]:
        """Return what has been asked for since the last call. Never blocks, never raises.

        Args:
            now: [s].
            up: whether the robot is off the ground, or on its way there.
        """
        events = self._joystick.events()
        asked = self._requests(events)
        if events or not up:
            self._heard = now
        if self._ended or (self._joystick.open and now - self._heard < self._silence_s):
            return asked
        self._ended = True
        silent = f"the gamepad has been silent for {self._silence_s:g} s"
        cause = silent if self._joystick.open else "the gamepad has gone"
        LOG.warning("operator: %s (%s)", cause, self._joystick.path)
        return [*asked, (Request.END, cause)]

    def close(self) -> None:
        """Let go of the device; safe to call twice."""
        self._ended = True
        self._joystick.close()

    def _requests(self, events: list[JoystickEvent]) -> list[RequestWithCause]:
        return [asked for event in events for asked in self._read(event)]

    def _read(self, event: JoystickEvent) -> list[RequestWithCause]:
        """The request of one event: of those at opening only a stop button that is held."""
        request = self._meaning.get(event.number)
        if event.kind != BUTTON or event.value == 0 or request is None:
            return []
        if request is Request.STOP:
            return [(request, f"stopped by the operator (gamepad button {event.number})")]
        return [] if event.at_opening else [(request, "")]
