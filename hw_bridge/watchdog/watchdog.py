"""When to damp the robot in the tracker's place; standard library only."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from hw_bridge.states import Request, RequestWithCause
from hw_bridge.watchdog.page import Page

LOG = logging.getLogger(__name__)
PERIOD_S: Final = 0.002  # between two damping frames, and two looks
SILENCE_S: Final = 0.010  # without a heartbeat, after which the tracker hangs
OVERDUE_S: Final = 0.001  # without one, after which the next look comes sooner
AFTER_BEAT_S: Final = 0.0004  # from a beat to a look, which so falls between two ticks
LATE_S: Final = 0.0015  # without one, from which the remote is read here
ON_TIME: Final = 1.5  # times what was asked for between two looks: this process was not held up
HELD_UP_S: Final = 0.5 * PERIOD_S  # counted of a longer time than that
HISTORY: Final = 16  # looks that the log shows after a hang


class Watchdog:
    """Looks at the heartbeat and at the operator's hands; once it damps, it goes on damping.

    Attributes:
        cause: why it damps; "" while it does not.
    """

    def __init__(
        self,
        page: Page,
        send: Callable[[bytes], object],
        hands: Callable[[float], Iterable[RequestWithCause]],
        remote_stop: Callable[[], str],
        tell: Callable[[RequestWithCause], object],
    ) -> None:
        """Nothing has been seen.

        Args:
            page: shared with the tracker.
            send: sends a frame to the robot.
            hands: what the operator has asked for by keys or gamepad up to now [s].
            remote_stop: the cause of a stop in the robot's frames that nobody has taken, or "".
            tell: passes a request on to the tracker.
        """
        self.cause = ""
        self._page, self._send, self._tell = page, send, tell
        self._hands, self._remote_stop = hands, remote_stop
        self._beat, self._last_look, self._silence, self._due = 0, 0.0, 0.0, PERIOD_S
        self._history = deque[tuple[float, float, float]](maxlen=HISTORY)

    def look(self, now: float) -> float:
        """Take the operator's requests, judge the heartbeat at `now` [s] monotonic, damp.

        Returns:
            Time until the next look is due [s].
        """
        for request in self._hands(now):
            if request[0] is Request.STOP:
                self.damp(request[1])
            self._tell(request)
        silence = self._measure_silence(now)
        if silence > LATE_S and not self.cause and (cause := self._remote_stop()):
            self.damp(cause)
            self._tell((Request.STOP, cause))
        if silence >= SILENCE_S:
            self.hang(f"the tracker hung for {1e3 * silence:.0f} ms; the watchdog damps")
        if self.cause:
            self._send(self._page.frame)
        self._due = self._time_to_next(now, silence)
        return self._due

    def _time_to_next(self, now: float, silence: float) -> float:
        """Time until the next look [s]; while the tracker beats, between two of its ticks."""
        if self.cause or not self._beat:
            return PERIOD_S
        if silence > OVERDUE_S:
            return 0.5 * PERIOD_S
        return max(0.5 * PERIOD_S, PERIOD_S + AFTER_BEAT_S - (now - 1e-9 * self._beat))

    def hang(self, cause: str) -> None:
        """The tracker serves the robot no more: damp, and let it know in case it still can."""
        if not self.cause:
            self.damp(cause)
            self._tell((Request.STOP, cause))
            LOG.info("looks before it, (time, last heartbeat, silence) [ms]: %s", self._recall())

    def damp(self, cause: str) -> None:
        """Damp from now on, if there is a robot that is not off; the first frame leaves at once."""
        if self.cause or not self._page.beat:
            return
        self._page.latch()
        self._send(self._page.frame)
        self.cause = cause
        LOG.warning("watchdog: %s", cause)

    def _measure_silence(self, now: float) -> float:
        """For how long the tracker has been silent while this process ran [s]; 0 if it may be.

        A look that comes late counts little: then this core stood still, and the tracker shall have
        its chance to go on as this process has. It counts something, for a machine on which every
        look is late.
        """
        beat, gap = self._page.beat, now - self._last_look
        gap = gap if gap <= ON_TIME * self._due else HELD_UP_S
        self._last_look = now
        if not beat:
            self._silence = 0.0
        elif beat != self._beat:
            self._silence = min(max(0.0, now - 1e-9 * beat), gap)
        else:
            self._silence += gap
        self._beat = beat
        self._history.append((now, 1e-9 * beat, self._silence))
        return self._silence

    def _recall(self) -> str:
        """The last looks; times count from the last one."""
        end = self._last_look
        looks = [(time - end, beat - end, silence) for time, beat, silence in self._history]
        return ", ".join(f"({1e3 * a:.1f}, {1e3 * b:.1f}, {1e3 * c:.1f})" for a, b, c in looks)
