"""Buttons of a gamepad as requests, by Linux's joystick interface.

Events of 8 bytes: time u32 [ms], value i16, type u8, number u8; type 1 is a button, the bit 0x80
marks the state at opening (Linux, Documentation/input/joydev/joystick-api.rst).
"""

import errno
import logging
import os
import stat
import struct

from hw_bridge.operator.asked import Asked
from hw_bridge.operator.options import GamepadButtons
from hw_bridge.states import Request

LOG = logging.getLogger(__name__)
_EVENT = struct.Struct("<IhBB")
_BUTTON, _AT_OPENING = 0x01, 0x80
_AT_ONCE = 64 * _EVENT.size  # bytes a poll


class Gamepad:
    """Requests by button; a gamepad that goes away ends the run."""

    def __init__(self, path: str, buttons: GamepadButtons) -> None:
        """Open the device.

        Raises:
            ValueError: it cannot be opened: nobody shall count on a stop that is not there.
        """
        try:
            self._fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            mode = os.fstat(self._fd).st_mode
            if not (stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)):
                os.close(self._fd)  # the bytes of a file would be read as buttons
                raise OSError(errno.ENODEV, "it is no device")
        except OSError as error:
            raise ValueError(
                f"operator.gamepad: cannot open {path} ({error.strerror}); plug the gamepad in, or "
                "leave the option out"
            ) from None
        self._path, self._open, self._rest = path, True, b""
        self._meaning = {
            buttons.stand_up: Request.STAND_UP,
            buttons.run: Request.RUN,
            buttons.sit_down: Request.SIT_DOWN,
        } | dict.fromkeys(buttons.stop, Request.STOP)

    def poll(self) -> list[Asked]:
        """Return what has been asked for since the last call. Never blocks, never raises."""
        if not self._open:
            return []
        try:
            data = os.read(self._fd, _AT_ONCE)
        except BlockingIOError:
            return []
        except OSError:  # ENODEV: unplugged, out of reach, out of power
            data = b""
        if not data:
            return self._gone()
        data = self._rest + data
        whole = len(data) - len(data) % _EVENT.size
        self._rest = data[whole:]
        return [asked for event in _EVENT.iter_unpack(data[:whole]) for asked in self._read(event)]

    def close(self) -> None:
        """Let go of the device; safe to call twice."""
        if self._open:
            self._open = False
            os.close(self._fd)

    def _gone(self) -> list[Asked]:
        self.close()
        LOG.warning("operator: the gamepad %s has gone", self._path)
        return [(Request.END, "the gamepad has gone")]

    def _read(self, event: tuple[int, ...]) -> list[Asked]:
        """The request of one event: of those at opening only a stop button that is held."""
        _, value, kind, number = event
        request = self._meaning.get(number)
        if kind & ~_AT_OPENING != _BUTTON or value == 0 or request is None:
            return []
        if request is Request.STOP:
            return [(request, f"stopped by the operator (gamepad button {number})")]
        return [] if kind & _AT_OPENING else [(request, "")]
