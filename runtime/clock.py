"""The clocks: real time with absolute ticks, and paused, in lock step by tick number.

Nodes are written against `Clock`; which of the two they get is the only difference between modes.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from runtime.histogram import LogHistogram, Quantiles

LATENESS_RESOLUTION_US = 1.0
LATE = 0.5  # of a period, after which a tick counts as late
REACH = 0.1  # of a period, by which a tick may begin before or after it is due
PULL = 0.01  # of a period, by which an arrival moves the ticks that follow


@dataclass(frozen=True)
class TickStatistics:
    """Punctuality of a clock.

    Attributes:
        ticks: served.
        missed: skipped.
        late: served, but begun more than half a period after they were due.
        lateness_us: of those served [us].
    """

    ticks: int = 0
    missed: int = 0
    late: int = 0
    lateness_us: Quantiles = field(default_factory=Quantiles)


class TickedSource(Protocol):
    """A subscriber of messages that have a tick, as a clock needs it."""

    def newest(self) -> Any:
        """The newest message since the last call, without blocking; None without one."""
        ...

    def wait_for(
        self, predicate: Callable[[Any], bool], timeout_s: float,
        stop: Callable[[], bool] | None = None,
    ) -> Any:  # fmt: skip
        """The next message that fulfils `predicate`; None when stopped or out of time [s]."""
        ...


class RealTimeClock:
    """Ticks at absolute times start + k period; late ones are skipped and counted, not made up."""

    paused = False
    now = staticmethod(time.monotonic)  # [s]

    def __init__(self, period_s: float) -> None:
        self._period = period_s
        self._start = 0.0
        self._tick = -1
        self._ticks = 0
        self._missed = self._late = 0
        self._lateness = LogHistogram(LATENESS_RESOLUTION_US)

    def due(self) -> float:
        """Time at which the present tick was due, on the monotonic clock [s]."""
        return self._start + self._tick * self._period

    def wait_tick(self) -> int:
        """Sleep until the next tick is due; its number jumps over those that have passed already.

        Lateness is counted from the first tick that was due, so a skipped tick shows in it.
        """
        if self._tick < 0:
            self._start = time.monotonic()
        due_tick = self._tick + 1
        due = self._start + due_tick * self._period
        now = self._sleep_until(due)
        self._tick = max(due_tick, int((now - self._start) / self._period))
        self._ticks += 1
        self._missed += self._tick - due_tick
        self._late += now - due > LATE * self._period
        self._lateness.add(1e6 * max(0.0, now - due))
        return self._tick

    def collect(self, source: TickedSource, tick: int, stop: Callable[[], bool]) -> Any:
        """The newest message since the last call, whatever its tick; never blocks."""
        return source.newest()

    def statistics(self) -> TickStatistics:
        """Ticks served, skipped and late, and how late those served were [us]."""
        quantiles = self._lateness.quantiles()
        return TickStatistics(self._ticks, self._missed, self._late, quantiles)

    def _sleep_until(self, due: float) -> float:
        """Sleep, and return the time [s], which is `due` or later."""
        now = time.monotonic()
        while now < due:
            time.sleep(due - now)
            now = time.monotonic()
        return now


class ArrivalClock(RealTimeClock):
    """Real time whose ticks wait for something that arrives once a period, but not for long.

    A tick begins when it arrives within a tenth of a period of the time that the tick is due, else
    a tenth after that time: what is sent then still is in time for a peer that answers once a
    period. Ticks that are due follow arrivals by a hundredth of a period at most, so that the rate
    stays, also where every arrival answers what the tick before has sent.
    """

    def __init__(self, period_s: float, wait: Callable[[float], bool]) -> None:
        """`wait(timeout_s)` waits for an arrival, and returns whether there is one."""
        super().__init__(period_s)
        self._wait = wait
        self._reach, self._pull = REACH * period_s, PULL * period_s

    def _sleep_until(self, due: float) -> float:
        now = super()._sleep_until(due - self._reach)
        arrived = self._wait(max(0.0, due + self._reach - now))
        now = time.monotonic()
        if arrived:
            self._start += min(self._pull, max(-self._pull, now - due))
        return now


class PausedClock:
    """Simulated time: a tick ends when its message has come, however long that takes.

    Time may have been stopped on purpose. The launcher notices a process that died.
    """

    paused = True

    def __init__(self, period_s: float) -> None:
        self._period = period_s
        self._tick = -1

    def now(self) -> float:
        """Simulated time: tick times period [s]; 0 before the first tick."""
        return max(self._tick, 0) * self._period

    due = now

    def wait_tick(self) -> int:
        """The next tick, at once."""
        self._tick += 1
        return self._tick

    def collect(self, source: TickedSource, tick: int, stop: Callable[[], bool]) -> Any:
        """Block until the message of `tick` has come.

        None when stopped, or when a later tick's message came in its place.
        """
        message = source.wait_for(lambda m: m.tick >= tick, math.inf, stop)
        return message if message is not None and message.tick == tick else None

    def statistics(self) -> TickStatistics:
        """Ticks served; nothing is late in simulated time."""
        return TickStatistics(ticks=self._tick + 1)


Clock = RealTimeClock | PausedClock
