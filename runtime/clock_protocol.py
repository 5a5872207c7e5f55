"""What a node may ask of its clock, and what the clock asks of the messages it waits for."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from runtime.histogram import Quantiles


@dataclass(frozen=True)
class TickStatistics:
    """How well a clock kept time.

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


class Ticked(Protocol):
    """A message that carries the number of the tick it belongs to."""

    @property
    def tick(self) -> int:
        """Number of the tick."""
        ...


TickedT = TypeVar("TickedT", bound=Ticked)
TickedT_co = TypeVar("TickedT_co", bound=Ticked, covariant=True)


class TickedSource(Protocol[TickedT_co]):
    """What a clock asks of a subscriber (`runtime.bus.Subscriber` is one)."""

    def newest(self) -> TickedT_co | None:
        """The newest message since the last call, without blocking."""
        ...

    def wait_for(
        self,
        predicate: Callable[[TickedT_co], bool],
        timeout_s: float,
        stop: Callable[[], bool] | None = None,
    ) -> TickedT_co | None:
        """The next message that fulfils `predicate`; None when stopped or out of time [s]."""
        ...


class Clock(Protocol):
    """Time, ticks, and the messages that belong to a tick."""

    paused: bool

    def now(self) -> float:
        """The time that stamps messages [s]."""
        ...

    def due(self) -> float:
        """When the present tick was due [s]."""
        ...

    def wait_tick(self) -> int:
        """Wait for the next tick and return its number; the first call returns 0 at once."""
        ...

    def collect(
        self, source: TickedSource[TickedT], tick: int, stop: Callable[[], bool]
    ) -> TickedT | None:
        """The message that `tick` works with, None where there is none."""
        ...

    def statistics(self) -> TickStatistics:
        """How well time was kept so far."""
        ...
