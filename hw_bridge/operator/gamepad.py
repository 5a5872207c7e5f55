"""A gamepad of the operator: Linux's joystick events, and buttons as requests.

Events of 8 bytes: time u32 [ms], value i16, type u8, number u8; type 1 is a button, 2 an axis, the
bit 0x80 marks the state at opening (Linux, Documentation/input/joydev/joystick-api.rst).
Needs the standard library alone.
"""

from __future__ import annotations

import errno
import logging
import os
import stat
import struct
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from hw_bridge.states import Request, RequestWithCause

BUTTON: Final = 0x01
AXIS: Final = 0x02
_AT_OPENING: Final = 0x80
_EVENT: Final = struct.Struct("<IhBB")
_AT_ONCE: Final = 64 * _EVENT.size  # bytes a read


class JoystickEvent(NamedTuple):
    """State of one button or axis."""

    kind: int  # BUTTON or AXIS
    number: int
    value: int  # 0 or 1; an axis -32767 to 32767
    at_opening: bool = False  # it was so when the device was opened


class Joystick:
    """An open gamepad; each reader opens its own.

    Attributes:
        path: of the device.
        open: false once the gamepad has gone, or was closed.
    """

    def __init__(self, path: str, option: str) -> None:
        """Open the device that `option` names.

        Raises:
            ValueError: it cannot be opened.
        """
        try:
            self._fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            mode = os.fstat(self._fd).st_mode
            if not (stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)):
                os.close(self._fd)  # the bytes of a file would be read as buttons
                raise OSError(errno.ENODEV, "it is no device")
        except OSError as error:
            raise ValueError(
                f"{option}: cannot open {path} ({error.strerror}); plug the gamepad in, or name "
                "its device, such as /dev/input/js0"
            ) from None
        self.path, self.open, self._rest = path, True, b""

    def fileno(self) -> int:
        """To wait for events with."""
        return self._fd

    def events(self) -> list[JoystickEvent]:
        """Read the pending events. Never blocks, never raises."""
        if not self.open:
            return []
        try:
            data = os.read(self._fd, _AT_ONCE)
        except BlockingIOError:
            return []
        except OSError:  # ENODEV: unplugged, out of reach, out of power
            data = b""
        if not data:
            self.close()
            return []
        data = self._rest + data
        whole = len(data) - len(data) % _EVENT.size
        self._rest = data[whole:]
        return [
            JoystickEvent(kind & ~_AT_OPENING, number, value, bool(kind & _AT_OPENING))
            for _, value, kind, number in _EVENT.iter_unpack(data[:whole])
        ]

    def close(self) -> None:
        """Let go of the device; safe to call twice."""
        if self.open:
            self.open = False
            os.close(self._fd)


LOG = logging.getLogger(__name__)
_MOST_READS = 256  # of what was pressed before: more than a device or a pipe holds


class Gamepad:
    """Requests by button; a gamepad that goes away or falls silent ends the run.

    A dongle may keep its device file when the gamepad is out of reach or power, and nothing then
    tells it from a gamepad at rest. So the operator has to move a stick or a trigger while the
    robot is up: an event at least every `silence_s`.
    """

    def __init__(self, path: str, buttons: Mapping[str, Any], silence_s: float = 1.0) -> None:
        """Open the device; `silence_s` is how long it may be silent while the robot is up [s].

        `buttons` are those of `GamepadButtons` as plain data.

        Raises:
            ValueError: it cannot be opened.
        """
        self._joystick = Joystick(path, "operator.gamepad")
        steps = (Request.STAND_UP, Request.RUN, Request.SIT_DOWN)
        self._meaning = dict.fromkeys(buttons["stop"], Request.STOP)
        self._meaning |= {buttons[step.value]: step for step in steps}
        self.fileno = self._joystick.fileno
        self._silence_s, self._heard = silence_s, 0.0  # heard when [s]
        self._ended = False  # the end was reported, or `close` was called

    @property
    def open(self) -> bool:
        """Whether events may still come."""
        return self._joystick.open

    def begin(self, _now: float = 0.0) -> list[RequestWithCause]:
        """Drop what was pressed before, and return the stop in it. Never blocks, never raises."""
        asked: list[RequestWithCause] = []
        for _ in range(_MOST_READS):
            events = self._joystick.events()
            if not events:  # a gamepad that has gone is the next poll's to tell
                break
            asked += self._requests(events)
        return [each for each in asked if each[0] is Request.STOP][:1]

    def poll(self, now: float = 0.0, up: bool = False) -> list[RequestWithCause]:
        """Return the requests since the last call. Never blocks, never raises.

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
        """Requests of pressed buttons; of those that were pressed at opening a stop alone."""
        asked: list[RequestWithCause] = []
        for kind, number, value, at_opening in events:
            request = self._meaning.get(number) if kind == BUTTON and value else None
            if request is Request.STOP:
                asked.append((request, f"stopped by the operator (gamepad button {number})"))
            elif request is not None and not at_opening:
                asked.append((request, ""))
        return asked
