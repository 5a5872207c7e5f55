"""Buttons of a gamepad as requests."""

from __future__ import annotations

import logging
from typing import Any

from hw_bridge.joystick import BUTTON, Joystick, JoystickEvent
from hw_bridge.states import Request, RequestWithCause

LOG = logging.getLogger(__name__)


class Gamepad:
    """Requests by button; a gamepad that goes away ends the run."""

    def __init__(self, path: str, buttons: Any) -> None:
        """Open the device.

        Raises:
            ValueError: it cannot be opened: nobody shall count on a stop that is not there.
        """
        self._joystick = Joystick(path, "operator.gamepad")
        self._meaning = {
            buttons.stand_up: Request.STAND_UP,
            buttons.run: Request.RUN,
            buttons.sit_down: Request.SIT_DOWN,
        } | dict.fromkeys(buttons.stop, Request.STOP)

    @property
    def open(self) -> bool:
        """Whether events may still come."""
        return self._joystick.open

    def fileno(self) -> int:
        """To wait for events with."""
        return self._joystick.fileno()

    def poll(self) -> list[RequestWithCause]:
        """Return what has been asked for since the last call. Never blocks, never raises."""
        if not self._joystick.open:
            return []
        asked = [asked for event in self._joystick.events() for asked in self._read(event)]
        if self._joystick.open:
            return asked
        LOG.warning("operator: the gamepad %s has gone", self._joystick.path)
        return [(Request.END, "the gamepad has gone")]

    def close(self) -> None:
        """Let go of the device; safe to call twice."""
        self._joystick.close()

    def _read(self, event: JoystickEvent) -> list[RequestWithCause]:
        """The request of one event: of those at opening only a stop button that is held."""
        request = self._meaning.get(event.number)
        if event.kind != BUTTON or event.value == 0 or request is None:
            return []
        if request is Request.STOP:
            return [(request, f"stopped by the operator (gamepad button {event.number})")]
        return [] if event.at_opening else [(request, "")]
