"""Keys as requests, from a terminal in cbreak mode (`terminal.raw_keys`) or from a pipe."""

import logging
import os
import select
from collections.abc import Callable

from hw_bridge.states import Request, RequestWithCause

LOG = logging.getLogger(__name__)
_STOP = {" ": "space", "x": "x", "\x1b": "Esc"}
_KEYS = {"u": Request.STAND_UP, "r": Request.RUN, "d": Request.SIT_DOWN}
_AT_ONCE = 256  # bytes a poll
_GONE = select.POLLHUP | select.POLLERR | select.POLLNVAL


class Keyboard:
    """Requests by key, in either case; other keys are handed over to who wants them.

    Every Esc byte stops, so arrow and function keys, which begin with one, do too: waiting for
    what follows would delay a stop, and a stop too many is the lesser evil. A terminal that hangs
    up ends the run, because nobody could stop the robot any more; the end of a pipe does not.

    Attributes:
        open: whether keys may still come.
    """

    def __init__(self, fd: int, others: Callable[[str], None] | None = None) -> None:
        """Read keys from the open file `fd`; its flags, shared with other processes, stay.

        `others` takes, in lower case, the keys that are no requests.
        """
        self._fd, self.open, self._others = fd, True, others
        self._poll = select.poll()
        self._poll.register(fd, select.POLLIN)
        try:
            self._terminal = os.isatty(fd)
        except OSError:
            self._terminal = False

    def fileno(self) -> int:
        """To wait for keys with."""
        return self._fd

    def poll(self) -> list[RequestWithCause]:
        """Return what has been asked for since the last call. Never blocks, never raises."""
        if not self.open:
            return []
        try:
            events = self._poll.poll(0)
            keys = os.read(self._fd, _AT_ONCE) if events else b""
        except BlockingIOError:  # another process has the file not wait
            return []
        except OSError:  # a terminal that has hung up, or a file closed under us
            return self._gone()
        if keys or not events:
            return self._requests(keys)
        # The key of a terminal may have gone to another reader; of a pipe, nothing is the end.
        still_there = self._terminal and not events[0][1] & _GONE
        return [] if still_there else self._gone()

    def _gone(self) -> list[RequestWithCause]:
        self.open = False
        if not self._terminal:
            return []
        LOG.warning("operator: the terminal has gone")
        return [(Request.END, "the operator's terminal has gone")]

    def _requests(self, keys: bytes) -> list[RequestWithCause]:
        """The requests of keys, in their order."""
        asked: list[RequestWithCause] = []
        others = ""
        for key in keys.decode("latin-1").lower():
            if key in _STOP:
                asked.append((Request.STOP, f"stopped by the operator ({_STOP[key]} key)"))
            elif key in _KEYS:
                asked.append((_KEYS[key], ""))
            else:
                others += key
        if others and self._others is not None:
            self._others(others)
        return asked
