"""Keys as requests, from a terminal in cbreak mode (`terminal.raw_keys`) or from a pipe.

Needs the standard library alone.
"""

import logging
import os
import select
from collections.abc import Callable

from hw_bridge.operator.terminal_pulse import TerminalPulse
from hw_bridge.states import Request, RequestWithCause

LOG = logging.getLogger(__name__)
_STOP = {" ": "space", "x": "x", "\x1b": "Esc"}
_KEYS = {"u": Request.STAND_UP, "r": Request.RUN, "d": Request.SIT_DOWN}
_AT_ONCE = 256  # bytes a poll
_MOST_READS = 256  # of what was typed ahead: more than a pipe holds
_GONE = select.POLLHUP | select.POLLERR | select.POLLNVAL


class Keyboard:
    """Requests by key, in either case; other keys are handed over to who wants them.

    Every Esc byte stops, so arrow and function keys, which begin with one, do too: waiting for
    what follows would delay a stop, and a stop too many is the lesser evil. The exception is a
    terminal's reply to a query (`TerminalPulse`). A terminal that hangs up or freezes ends the run,
    because nobody could stop the robot any more; the end of a pipe does not.

    Attributes:
        open: whether keys may still come.
    """

    def __init__(
        self, fd: int, others: Callable[[str], None] | None = None, silence_s: float = 1.0
    ) -> None:
        """Read keys from the open file `fd`; its flags, shared with other processes, stay.

        `others` takes, in lower case, the keys that are no requests. `silence_s` is how long a
        terminal may be silent, once `begin` was called [s].
        """
        self._fd, self.open, self._others = fd, True, others
        self._silence_s = silence_s
        self._pulse: TerminalPulse | None = None
        self._poll = select.poll()
        self._poll.register(fd, select.POLLIN)
        try:
            self._terminal = os.isatty(fd)
        except OSError:
            self._terminal = False

    def fileno(self) -> int:
        """To wait for keys with."""
        return self._fd

    def begin(self, now: float) -> list[RequestWithCause]:
        """Drop what was typed ahead and return the stop in it; from `now` on [s] watch a terminal.

        Never blocks, never raises.
        """
        typed = b""
        for _ in range(_MOST_READS):
            keys = self._read()
            if not keys:  # a terminal that has gone is the next poll's to tell
                break
            typed += keys
        if self._terminal and self._pulse is None:
            self._pulse = TerminalPulse(self._fd, self._silence_s, now)
        asked, _ = _requests(typed)
        return [each for each in asked if each[0] is Request.STOP][:1]

    def poll(self, now: float = 0.0, up: bool = False) -> list[RequestWithCause]:
        """Return what has been asked for since the last call. Never blocks, never raises.

        Args:
            now: [s], of the clock of `begin`.
            up: whether the robot is off the ground, or on its way there.
        """
        if not self.open:
            return []
        keys, pulse = self._read(), self._pulse
        if keys is None:
            return self._gone()
        if pulse is None:
            return self._hand_over(keys) if keys else []
        keys = pulse.take(keys, now)
        asked = self._hand_over(keys) if keys else []
        return asked + pulse.judge(now, up)

    def close(self) -> None:
        """Ask the terminal nothing more; safe to call twice. The file stays open."""
        if self._pulse is not None:
            self._pulse.close()

    def _read(self) -> bytes | None:
        """What was typed; None where nothing can come any more."""
        try:
            events = self._poll.poll(0)
            keys = os.read(self._fd, _AT_ONCE) if events else b""
        except BlockingIOError:  # another process has the file not wait
            return b""
        except OSError:  # a terminal that has hung up, or a file closed under us
            return None
        if keys or not events:
            return keys
        # The key of a terminal may have gone to another reader; of a pipe, nothing is the end.
        still_there = self._terminal and not events[0][1] & _GONE
        return b"" if still_there else None

    def _gone(self) -> list[RequestWithCause]:
        self.open = False
        if not self._terminal:
            return []
        LOG.warning("operator: the terminal has gone")
        held = b"" if self._pulse is None else self._pulse.drop()
        return [*self._hand_over(held), (Request.END, "the operator's terminal has gone")]

    def _hand_over(self, keys: bytes) -> list[RequestWithCause]:
        """The requests of keys, in their order; the other keys go to who wants them."""
        asked, others = _requests(keys)
        if others and self._others is not None:
            self._others(others)
        return asked


def _requests(keys: bytes) -> tuple[list[RequestWithCause], str]:
    """The requests of keys, in their order, and the other keys."""
    asked: list[RequestWithCause] = []
    others = ""
    for key in keys.decode("latin-1").lower():
        if key in _STOP:
            asked.append((Request.STOP, f"stopped by the operator ({_STOP[key]} key)"))
        elif key in _KEYS:
            asked.append((_KEYS[key], ""))
        else:
            others += key
    return asked, others
