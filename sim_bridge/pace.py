"""Hold simulated time to the pace that a viewer asks for."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import monotonic

from runtime.messages import Pace
from sim_bridge.perturbation_script import TICK

SILENCE_S = 2.0  # without a message, after which time is free again
LAG_S = 0.1  # behind the pace, by wall time, of wall time, beyond which it is dropped


class PaceKeeper:
    """Says when the next tick may begin; as fast as possible until a viewer asks for a pace.

    A lag of up to `LAG_S` is caught up; a longer one is dropped, so that there is no burst.
    Single ticks are those by which `Pace.steps` grows while time is stopped.
    """

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        """`now` is the wall clock [s]."""
        self._now = now
        self._heard = -math.inf
        self._speed, self._steps = math.inf, 0
        self._start, self._start_tick = 0.0, 0  # from which on this pace counts
        self._released = 0  # ticks before this one may begin although time is stopped

    def take(self, pace: Pace, tick: int) -> None:
        """Take a message while the robot is at `tick`; a NaN or negative speed is passed over."""
        if not pace.speed >= 0.0:
            return
        now = self._now()
        known = now - self._heard <= SILENCE_S
        if not (known and pace.speed == self._speed):
            self._start, self._start_tick, self._released = now, tick, tick
        if known and pace.speed == 0.0:
            # Fewer steps than before are another sender's.
            self._released = max(self._released, tick) + max(0, pace.steps - self._steps)
        self._heard, self._speed, self._steps = now, pace.speed, pace.steps

    def remaining(self, tick: int) -> float:
        """Time to wait before `tick` [s], or 0; a lag that is too long is dropped here."""
        now = self._now()
        if self._speed == math.inf or now - self._heard > SILENCE_S:
            return 0.0
        if self._speed == 0.0:
            return 0.0 if tick < self._released else math.inf
        due = self._start + (tick - self._start_tick) * TICK / self._speed
        if now - due > LAG_S:
            self._start, self._start_tick = now, tick
        return max(0.0, due - now)
