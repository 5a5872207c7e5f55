"""A clock of real time for tests: late by given numbers of ticks, without waiting for any."""

from runtime.clock import PausedClock


class JumpingClock(PausedClock):
    """Skips so many ticks after some ticks."""

    paused = False

    def __init__(self, skips=None):
        super().__init__(0.001)
        self.skips = skips or {}

    def wait_tick(self):
        self._tick += 1 + self.skips.get(self._tick, 0)
        return self._tick
