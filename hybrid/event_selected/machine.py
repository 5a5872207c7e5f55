"""What the kernels of event-selected integration read, change and record."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid.compiled.limits import Limits
from hybrid.systems import Array

OK, NOT_FINITE, TOO_STIFF, TOO_MANY_CROSSINGS, NOT_EVENT_SELECTED, FULL = range(6)
STATUSES = ("ok", "not_finite", "too_stiff", "too_many_crossings", "not_event_selected")

TIME, STEP = range(2)  # in ``Machine.clock``
STEPS, CROSSINGS, GUARD = range(3)  # in ``Machine.counts``


class EssLimits(NamedTuple):
    """``EssOptions`` as kernels take them."""

    epsilon: Array  # (m,)
    max_crossings: int
    of_steps: Limits  # tolerances, longest step and number of steps; its events are not used


class Machine(NamedTuple):
    """Where a run is; every array is written in place, so that a run can be taken up again."""

    x: Array  # (n,)
    slope: Array  # (n,) f there
    values: Array  # (m,) h there
    side: Array  # (m,) -1.0: a candidate, its guard ahead; +1.0: not
    waiting: NDArray[np.bool_]  # (m,) armed again while well above zero
    clock: Array  # (2,) time, and step to try next [s]
    counts: NDArray[np.int64]  # (3,) steps, crossings, and the guard at fault

    @staticmethod
    def start(x: Array, m: int, duration: float) -> Machine:
        """At time 0 in the state x (n,); ``begin`` fills in the rest."""
        counts = np.array([0, 0, -1], dtype=np.int64)
        waiting, clock = np.zeros(m, dtype=np.bool_), np.array([0.0, duration])
        return Machine(x.copy(), np.zeros(len(x)), np.zeros(m), np.ones(m), waiting, clock, counts)


class Log(NamedTuple):
    """Pieces and crossings in order; with no capacity nothing is recorded.

    A piece over a part in [0, 1] of its length is start + part (c0 + left (c1 + part (c2 + left
    c3))), left = 1 - part: the continuous extension of Dormand and Prince's method, and a straight
    line where only c0 is not zero.
    """

    count: NDArray[np.int64]  # (2,) pieces, crossings
    ends: Array  # (capacity, 2) [s]
    starts: Array  # (capacity, n)
    curves: Array  # (capacity, 4, n)
    guards: NDArray[np.int64]  # (capacity,)
    crossings: Array  # (capacity, 1 + 2 n) time [s], state before and after

    @staticmethod
    def empty(capacity: int, n: int) -> Log:
        """Room for as many pieces, and as many crossings."""
        return Log(
            np.zeros(2, dtype=np.int64),
            np.zeros((capacity, 2)),
            np.zeros((capacity, n)),
            np.zeros((capacity, 4, n)),
            np.zeros(capacity, dtype=np.int64),
            np.zeros((capacity, 1 + 2 * n)),
        )
