"""The time between a command and the motors acting on it, as a first-in-first-out line."""

from collections import deque
from typing import Generic, TypeVar

Item = TypeVar("Item")


class DelayLine(Generic[Item]):
    """Holds each item back for a fixed number of steps, then shows the newest one that is due.

    Steps are integers so that the delay is exact at every length of run: a delay in seconds is
    rounded to the nearest step once, here.
    """

    def __init__(self, delay: float, step: float) -> None:
        """Make a line that delays by `delay` [s], counted in steps of `step` [s].

        Raises:
            ValueError: the delay is negative or not finite.
        """
        if not 0.0 <= delay < float("inf"):
            raise ValueError(f"input_delay: {delay} s; a delay is finite and at least 0")
        self.steps = round(delay / step)
        self._waiting: deque[tuple[int, Item]] = deque()
        self._due: Item | None = None

    def push(self, step: int, item: Item) -> None:
        """Put in an item at `step`; it is due at `step + self.steps`."""
        self._waiting.append((step + self.steps, item))

    def at(self, step: int) -> Item | None:
        """The newest item due at `step` (None before the first). Steps must not go backwards."""
        waiting = self._waiting
        while waiting and waiting[0][0] <= step:
            self._due = waiting.popleft()[1]
        return self._due
