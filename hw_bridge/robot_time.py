"""The robot's clock on ours: which frame may follow which, and when each was measured."""

from typing import Final, Literal, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]

STACK_TICK: Final = 1e-3  # [s] the stack's own tick
LARGEST_DRIFT: Final = 200e-6  # [s/s] two clocks apart; quartz of a computer's is within 100e-6
WRAP: Final = 1 << 32  # the robot's tick is a u32
LEAP_S: Final = 0.5  # [s] by which the robot's clock may be ahead of ours
LEAP_RATE: Final = 0.25  # by which it may run faster than ours, for any length of time

IN_ORDER, DUPLICATE, OLD, LEAP = 0, 4, 5, 6  # beside the faults of `take_in`
Disorder = Literal["duplicate", "old", "leap"]
DISORDERS: Final[dict[int, Disorder]] = {DUPLICATE: "duplicate", OLD: "old", LEAP: "leap"}

# The record of a clock: length of a tick [s], whether a frame was seen; of the last frame: tick as
# received, without the wrap, arrival, by how much its clock was ahead, when it was measured [s].
_UNIT, _SEEN, _TICK, _TICKS, _ARRIVAL, _AHEAD, _TIME = range(7)


class MeasurementTime(NamedTuple):
    """When a frame was measured."""

    time: float  # on our monotonic clock [s]
    tick: int  # of the stack: ms on the robot's clock, which goes on where a u32 wraps


@njit(cache=True)
def ticks_between(earlier: int, later: int) -> int:
    """Return the ticks from one to the other, modulo 2^32: in [-2^31, 2^31)."""
    return (later - earlier + WRAP // 2) % WRAP - WRAP // 2


def new_clock(unit_s: float) -> Array:
    """A record of a clock whose tick lasts `unit_s` [s]; nothing seen."""
    return np.array([unit_s, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])


@njit(cache=True)
def order(clock: Array, tick: int, arrival: float) -> int:
    """Return IN_ORDER, or what is wrong with a `tick` (u32) that comes at `arrival` [s].

    A leap is a frame of another session that somebody plays back, or a wrong idea of the tick's
    length. What counts is how far the robot's clock is ahead of its smoothest relation to ours so
    far, forgiven at a rate of 25 %: many short leaps are as bad as a long one, while frames that a
    queue held up and lets go all at once are none.
    """
    if clock[_SEEN] == 0.0:
        return IN_ORDER
    elapsed = ticks_between(int(clock[_TICK]), tick)
    if elapsed <= 0:
        return OLD if elapsed < 0 else DUPLICATE
    waited = arrival - clock[_ARRIVAL]
    ahead = clock[_AHEAD] + elapsed * clock[_UNIT] - waited
    return LEAP if ahead - LEAP_RATE * max(0.0, waited) > LEAP_S else IN_ORDER


@njit(cache=True)
def place(clock: Array, tick: int, arrival: float) -> tuple[float, int]:
    """Take a frame as the last one; return when it was measured [s], and the stack's tick.

    With r the robot's own time and a the arrival of each frame k,

        time_k = min(a_k, time_(k-1) + (1 + 200e-6) (r_k - r_(k-1))).

    So time - r is the least of a - r that was seen, and rises by at most 200e-6 to follow a robot's
    clock that is slow against ours. Times are never after their arrival and never go back. A
    constant delay cannot be told from a difference of clocks: ages that come of these times are too
    small by the least delay. A clock slower than 200e-6 shows as a lag that grows, so the state of
    such a robot looks old, not fresh.

    Args:
        clock: the record.
        tick: as received; it may wrap around.
        arrival: of the frame on our monotonic clock [s], not before the last one's.
    """
    if clock[_SEEN] == 0.0:
        clock[_SEEN] = 1.0
        clock[_TICK] = clock[_TICKS] = tick
        clock[_TIME] = arrival
    else:
        elapsed = ticks_between(int(clock[_TICK]), tick)
        unit, waited = clock[_UNIT], arrival - clock[_ARRIVAL]
        ahead, forgiven = clock[_AHEAD] + elapsed * unit - waited, LEAP_RATE * max(0.0, waited)
        drift = LARGEST_DRIFT * elapsed * unit
        clock[_AHEAD] = max(0.0, ahead - forgiven) if ahead > 0.0 else min(0.0, ahead + drift)
        clock[_TICK], clock[_TICKS] = tick, clock[_TICKS] + elapsed
        clock[_TIME] = min(arrival, clock[_TIME] + (1.0 + LARGEST_DRIFT) * elapsed * unit)
    clock[_ARRIVAL] = arrival
    return clock[_TIME], round(clock[_TICKS] * clock[_UNIT] / STACK_TICK)


class RobotTime:
    """One robot's clock, for Python.

    Attributes:
        record: of `order` and `place`.
    """

    def __init__(self, unit_s: float) -> None:
        """Take the length of the robot's tick [s]."""
        self.record = new_clock(unit_s)

    @property
    def lag(self) -> float:
        """How much later than the least delay lets expect the last frame arrived [s]."""
        return float(self.record[_ARRIVAL] - self.record[_TIME])

    def judge(self, tick: int, arrival: float) -> Disorder | None:
        """What is wrong with a `tick` (u32) that came at `arrival` [s]; None if nothing."""
        return DISORDERS.get(order(self.record, tick, arrival))

    def place(self, tick: int, arrival: float) -> MeasurementTime:
        """When a frame, newer than the last one, was measured; see `place`."""
        return MeasurementTime(*place(self.record, tick, arrival))
