"""The operator's keyboard: a terminal's mode, its liveness, and keys as requests.

Keys come from a terminal in cbreak mode (`raw_keys`) or from a pipe. A terminal is asked for its
status; query and reply are those of ECMA-48, Device Status Report (8.3.35): CSI 5 n, CSI 0 n.
Needs the standard library alone.
"""

import logging
import os
import select
import stat
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hw_bridge.states import Request, RequestWithCause

_DISABLED = b"\x00"  # Linux's _POSIX_VDISABLE
_SPECIAL = 6  # index of the special characters among the attributes
_GONE = select.POLLHUP | select.POLLERR | select.POLLNVAL


def is_attended(fd: int) -> bool:
    """Whether keys may come from `fd`: a terminal, pipe or socket whose other end is held."""
    try:
        mode = os.fstat(fd).st_mode
        if not (os.isatty(fd) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
            return False
        ends = select.poll()
        ends.register(fd, select.POLLIN)
        return not any(event & _GONE for _, event in ends.poll(0))
    except OSError:
        return False


@contextmanager
def raw_keys(fd: int) -> Iterator[None]:
    """Put the terminal `fd` into cbreak mode without echo; restore it whatever happens inside.

    A read returns at once, empty where there is no key: another reader may have taken it. Ctrl-C
    still interrupts. Ctrl-Z does not suspend: keys would go to the shell, and with them the stop.
    Ctrl-S does not halt the terminal: it would look frozen (`TerminalPulse`). What was typed and
    not read is dropped at the beginning, before the operator knew what keys mean, and at the end:
    the shell shall not run it. A file that is not a terminal is left alone.
    """
    if not os.isatty(fd):
        yield
        return
    before = termios.tcgetattr(fd)
    try:
        tty.setcbreak(fd, termios.TCSAFLUSH)
        attributes = termios.tcgetattr(fd)
        special = attributes[_SPECIAL]
        special[termios.VSUSP] = special[termios.VSTOP] = _DISABLED
        special[termios.VMIN], special[termios.VTIME] = 0, 0
        termios.tcsetattr(fd, termios.TCSADRAIN, attributes)
        yield
    finally:
        try:
            termios.tcsetattr(fd, termios.TCSAFLUSH, before)
        except termios.error:
            pass  # it has hung up: nothing is left to restore


LOG = logging.getLogger(__name__)
QUERY, REPLY = b"\x1b[5n", b"\x1b[0n"
PERIOD_S = 0.25  # from query to query
# Longest wait for the rest of a reply: polled at least every 2 ms, an Esc alone stops in 3 ms.
HOLD_S = 0.001
PATIENCE_S = 3.0  # for the first reply; a terminal without one is left alone


class TerminalPulse:
    """Asks a terminal for its status; raises nothing and never waits.

    A query that has no answer, neither a reply nor a key, for `silence_s` says that the terminal is
    frozen: an SSH session without a network, say. That is reported once. A terminal that has never
    answered is not judged.
    """

    def __init__(self, fd: int, silence_s: float, now: float) -> None:
        """Ask from `now` on [s] the terminal that is the open file `fd`; `silence_s` [s]."""
        self._silence_s, self._begin, self._due = silence_s, now, now
        self._answers = self._warned = self._told = False
        self._unanswered: float | None = None  # when the oldest query without an answer was sent
        self._held, self._held_at = b"", now  # the beginning of a reply, it seems
        try:  # an open file of its own: other users of `fd` need it to block
            self._out = os.open(f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError:
            self._out = -1  # no query is ever answered

    def take(self, read: bytes, now: float) -> bytes:
        """Return the keys of what was `read` at `now` [s]: all of it but replies.

        The beginning of a reply at its end waits for the rest, up to `HOLD_S`, and is keys then.
        """
        if read:
            self._unanswered = None
            *before, last = (self._held + read).split(REPLY)
            self._answers |= bool(before)
            length = next((n for n in (3, 2, 1) if last.endswith(REPLY[:n])), 0)
            self._held, self._held_at = last[len(last) - length :], now
            return b"".join(before) + last[: len(last) - length]
        if self._held and now - self._held_at >= HOLD_S:
            return self.drop()
        return b""

    def drop(self) -> bytes:
        """Return what was held back: the rest of a reply does not come."""
        held, self._held = self._held, b""
        return held

    def judge(self, now: float, up: bool) -> list[RequestWithCause]:
        """Ask if it is time to; return the end of the run, once, if the terminal is frozen.

        Args:
            now: [s].
            up: whether the robot is off the ground, or on its way there.
        """
        if now >= self._due:
            self._ask(now)
        since = self._unanswered
        frozen = self._answers and since is not None and now - since >= self._silence_s
        if not (up and frozen) or self._told:
            return []
        self._told = True
        silent = f"the operator's terminal has been silent for {self._silence_s:g} s"
        LOG.warning("operator: %s", silent)
        return [(Request.END, silent)]

    def close(self) -> None:
        """Ask no more; safe to call twice."""
        self._due = float("inf")
        if self._out >= 0:
            os.close(self._out)
            self._out = -1

    def _ask(self, now: float) -> None:
        self._due = now + PERIOD_S
        if not self._answers and now - self._begin > PATIENCE_S:
            if not self._warned:
                LOG.warning("operator: the terminal answers no query: one that freezes is not seen")
            self._warned = True
            return
        if self._unanswered is None:
            self._unanswered = now
        try:
            os.write(self._out, QUERY)
        except OSError:  # it takes nothing now, which is no answer either
            pass


_STOP = {" ": "space", "x": "x", "\x1b": "Esc"}
_KEYS = {"u": Request.STAND_UP, "r": Request.RUN, "d": Request.SIT_DOWN}
_AT_ONCE = 256  # bytes a poll
_MOST_READS = 256  # of what was typed ahead: more than a pipe holds


class Keyboard:
    """Requests by key, in either case; other keys are passed on.

    Every Esc byte stops, so arrow and function keys, which begin with one, do too: waiting for
    what follows would delay a stop, and a stop too many is the lesser evil. The exception is a
    terminal's reply to a query (`TerminalPulse`). A terminal that hangs up or freezes ends the run,
    because the robot could not be stopped any more; the end of a pipe does not.

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
        """Return the requests since the last call. Never blocks, never raises.

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
            return self._hand_over(keys)
        return self._hand_over(pulse.take(keys, now)) + pulse.judge(now, up)

    def close(self) -> None:
        """Ask the terminal nothing more; safe to call twice. The file stays open."""
        if self._pulse is not None:
            self._pulse.close()

    def _read(self) -> bytes | None:
        """Typed bytes; None where none can come any more."""
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
        """The requests of keys, in their order; other keys are passed on."""
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
