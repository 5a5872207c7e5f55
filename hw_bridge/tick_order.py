"""Which tick may follow the last one: neither a repetition, nor the past, nor a far future."""

from typing import Final, Literal

from hw_bridge.robot_time import LARGEST_DRIFT, ticks_between

LEAP_S: Final = 0.5  # [s] by which the robot's clock may be ahead of ours
LEAP_RATE: Final = 0.25  # by which it may run faster than ours, for any length of time

Disorder = Literal["duplicate", "old", "leap"]


class TickOrder:
    """Judges ticks, modulo 2^32, against the last one that was accepted and against our clock.

    A leap is a frame of another session that somebody plays back, or a wrong idea of the tick's
    length. What counts is how far the robot's clock is ahead of its smoothest relation to ours so
    far, forgiven at a rate of 25 %: many short leaps are as bad as a long one, while frames that a
    queue held up and lets go all at once are none.
    """

    def __init__(self, unit_s: float) -> None:
        """Take the length of the robot's tick [s]."""
        self._unit = unit_s
        self._last: tuple[int, float] | None = None  # tick, arrival [s]
        self._ahead = 0.0  # [s] of the robot's clock
        self._judged = 0, 0.0, 0.0  # elapsed ticks; ahead, forgiven [s] of the frame judged last

    def judge(self, tick: int, arrival: float) -> Disorder | None:
        """What is wrong with a frame's `tick` (u32) that came at `arrival` [s]; None if nothing."""
        if self._last is None:
            return None
        elapsed = ticks_between(self._last[0], tick)
        if elapsed <= 0:
            return "old" if elapsed < 0 else "duplicate"
        waited = arrival - self._last[1]
        ahead, forgiven = self._ahead + elapsed * self._unit - waited, LEAP_RATE * max(0.0, waited)
        self._judged = elapsed, ahead, forgiven
        return "leap" if ahead - forgiven > LEAP_S else None

    def accept(self, tick: int, arrival: float) -> None:
        """Take a tick as the last one: the one that was judged last, and well."""
        if self._last is not None:
            elapsed, ahead, forgiven = self._judged
            drift = LARGEST_DRIFT * elapsed * self._unit
            self._ahead = max(0.0, ahead - forgiven) if ahead > 0.0 else min(0.0, ahead + drift)
        self._last = tick, arrival
