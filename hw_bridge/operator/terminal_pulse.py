"""Whether a terminal still answers: it is asked for its status, and its answers are no keys.

Status query and reply are those of ECMA-48, Device Status Report (8.3.35): CSI 5 n, CSI 0 n.
"""

import logging
import os

from hw_bridge.states import Request, RequestWithCause

LOG = logging.getLogger(__name__)
QUERY, REPLY = b"\x1b[5n", b"\x1b[0n"
PERIOD_S = 0.25  # from query to query
# Longest wait for the rest of a reply: polled at least every 2 ms, an Esc alone stops in 3 ms.
HOLD_S = 0.001
PATIENCE_S = 3.0  # for the first reply; a terminal without one is left alone


class TerminalPulse:
    """Asks a terminal for its status; raises nothing and never waits.

    A query that has no answer, neither a reply nor a key, for `silence_s` says that the terminal is
    frozen: an SSH session without a network, say. That is told once. A terminal that has never
    answered is not judged.
    """

    def __init__(self, fd: int, silence_s: float, now: float) -> None:
        """Ask from `now` on [s] the terminal that is the open file `fd`; `silence_s` [s]."""
        self._silence_s, self._begin, self._due = silence_s, now, now
        self._answers = self._warned = self._told = False
        self._unanswered: float | None = None  # when the oldest query without an answer was sent
        self._held, self._held_at = b"", now  # the beginning of a reply, it seems
        try:  # an open file of its own: that of `fd` is shared with who would not like O_NONBLOCK
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
