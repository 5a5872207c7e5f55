"""The two clocks: real time with absolute ticks, and paused, in lock step by tick number.

Nodes are written against `Clock`; which of the two they get is the only difference between modes.
"""

import time
from collections.abc import Callable

from runtime.clock_protocol import Clock, TickedSource, TickedT, TickStatistics
from runtime.histogram import LogHistogram

__all__ = ["Clock", "PausedClock", "RealTimeClock", "TickStatistics"]

PATIENCE_S = 120.0  # how long lock step waits for a message; first calls may compile for a minute
LATENESS_RESOLUTION_US = 1.0


class RealTimeClock:
    """Ticks at absolute times start + k period; late ones are skipped and counted, not made up."""

    paused = False

    def __init__(self, period_s: float) -> None:
        self._period = period_s
        self._start = 0.0
        self._tick = -1
        self._ticks = 0
        self._missed = 0
        self._lateness = LogHistogram(LATENESS_RESOLUTION_US)

    def now(self) -> float:
        """The monotonic clock [s]."""
        return time.monotonic()

    def wait_tick(self) -> int:
        """Sleep until the next tick is due; its number jumps over those that have passed already.

        Lateness is counted from the first tick that was due, so a skipped tick shows in it.
        """
        now = time.monotonic()
        if self._tick < 0:
            self._start = now
        due_tick = self._tick + 1
        due = self._start + due_tick * self._period
        while now < due:
            time.sleep(due - now)
            now = time.monotonic()
        self._tick = max(due_tick, int((now - self._start) / self._period))
        self._ticks += 1
        self._missed += self._tick - due_tick
        self._lateness.add(1e6 * (now - due))
        return self._tick

    def collect(
        self, source: TickedSource[TickedT], tick: int, stop: Callable[[], bool]
    ) -> TickedT | None:
        """The newest message since the last call, whatever its tick; never blocks."""
        return source.newest()

    def statistics(self) -> TickStatistics:
        """Ticks served and skipped, and how late those served were [us]."""
        return TickStatistics(self._ticks, self._missed, self._lateness.quantiles())


class PausedClock:
    """Simulated time: a tick ends when its message has come, however long that takes."""

    paused = True

    def __init__(self, period_s: float, patience_s: float = PATIENCE_S) -> None:
        self._period = period_s
        self._patience = patience_s
        self._tick = -1

    def now(self) -> float:
        """Simulated time: tick times period [s]; 0 before the first tick."""
        return max(self._tick, 0) * self._period

    def wait_tick(self) -> int:
        """The next tick, at once."""
        self._tick += 1
        return self._tick

    def collect(
        self, source: TickedSource[TickedT], tick: int, stop: Callable[[], bool]
    ) -> TickedT | None:
        """Block until the message of `tick` has come.

        None when stopped, after `patience_s`, or when a later tick's message came in its place.
        """
        message = source.wait_for(lambda m: m.tick >= tick, self._patience, stop)
        return message if message is not None and message.tick == tick else None

    def statistics(self) -> TickStatistics:
        """Ticks served; nothing is late in simulated time."""
        return TickStatistics(ticks=self._tick + 1)
