"""The robot's clock on ours: frames that arrive at odd times were measured at even ones."""

from typing import Final, NamedTuple

STACK_TICK: Final = 1e-3  # [s] the stack's own tick
LARGEST_DRIFT: Final = 200e-6  # [s/s] two clocks apart; quartz of a computer's is within 100e-6
WRAP: Final = 1 << 32  # the robot's tick is a u32


def ticks_between(earlier: int, later: int) -> int:
    """Ticks from one to the other, modulo 2^32: in [-2^31, 2^31)."""
    return (later - earlier + WRAP // 2) % WRAP - WRAP // 2


class MeasurementTime(NamedTuple):
    """When a frame was measured."""

    time: float  # on our monotonic clock [s]
    tick: int  # of the stack: ms on the robot's clock, which goes on where a u32 wraps


class RobotTime:
    """Maps ticks of the robot's clock to our monotonic clock.

    With r the robot's own time and a the arrival of each frame k,

        time_k = min(a_k, time_(k-1) + (1 + 200e-6) (r_k - r_(k-1))).

    So time - r is the least of a - r that was seen, and rises by at most 200e-6 to follow a robot's
    clock that is slow against ours. Times are never after their arrival and never go back. A
    constant delay cannot be told from a difference of clocks: ages that come of these times are too
    small by the least delay. A clock slower than 200e-6 shows as a `lag` that grows, so the state
    of such a robot looks old, not fresh.

    Attributes:
        lag: how much later than the least delay lets expect the last frame arrived [s].
    """

    def __init__(self, unit_s: float) -> None:
        """Take the length of the robot's tick [s]."""
        self.lag = 0.0
        self._unit = unit_s
        self._last: int | None = None  # tick as received
        self._ticks = 0  # of the last frame, without the wrap
        self._time = 0.0  # of the last frame [s]

    def place(self, tick: int, arrival: float) -> MeasurementTime:
        """When the frame with `tick` (u32), newer than the last one, was measured.

        Args:
            tick: as received; it may wrap around.
            arrival: of the frame on our monotonic clock [s], not before the last one's.
        """
        if self._last is None:
            self._last, self._ticks, self._time = tick, tick, arrival
        elapsed = ticks_between(self._last, tick)
        self._last, self._ticks = tick, self._ticks + elapsed
        self._time = min(arrival, self._time + (1.0 + LARGEST_DRIFT) * elapsed * self._unit)
        self.lag = arrival - self._time
        return MeasurementTime(self._time, round(self._ticks * self._unit / STACK_TICK))
