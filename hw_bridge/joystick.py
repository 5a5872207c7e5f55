"""Events of a gamepad, by Linux's joystick interface.

Events of 8 bytes: time u32 [ms], value i16, type u8, number u8; type 1 is a button, 2 an axis, the
bit 0x80 marks the state at opening (Linux, Documentation/input/joydev/joystick-api.rst).
Needs the standard library alone.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
from typing import Final, NamedTuple

BUTTON: Final = 0x01
AXIS: Final = 0x02
_AT_OPENING: Final = 0x80
_EVENT: Final = struct.Struct("<IhBB")
_AT_ONCE: Final = 64 * _EVENT.size  # bytes a read


class JoystickEvent(NamedTuple):
    """What one button or axis says."""

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
            ValueError: it cannot be opened: nobody shall count on a gamepad that is not there.
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
        """What has come since the last call. Never blocks, never raises."""
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
