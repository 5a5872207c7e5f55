"""State, limits and log of the kernels of event-selected integration."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from saltation.arrays import Flags, Integers
from saltation.compiled.limits import FULL, NOT_FINITE, OK, TOO_STIFF, ZENO, Limits
from saltation.compiled.runge_kutta import DEGREE
from saltation.kernels import kernel
from saltation.systems import Array

NOT_EVENT_SELECTED, NEW = 100, 101  # beside the codes of ``saltation.compiled.limits``
STATUSES = {
    OK: "ok", NOT_FINITE: "not_finite", TOO_STIFF: "too_stiff", ZENO: "zeno",
    NOT_EVENT_SELECTED: "not_event_selected",
}  # fmt: skip
UNDER_WAY = NEW, FULL
ON = 1e-9  # of epsilon: nearer to its zero than this, a guard is met

TIME, STEP, OPENED = range(3)  # in ``Machine.clock``
STEPS, CROSSINGS, GUARD = range(3)  # in ``Machine.counts``


class EssLimits(NamedTuple):
    """``EssOptions`` as kernels take them."""

    epsilon: Array  # (m,)
    steps: Limits


class Machine(NamedTuple):
    """State of a run; every array is written in place, so that a run can be taken up again."""

    x: Array  # (n,)
    slope: Array  # (n,) f there
    values: Array  # (m,) h there
    side: Array  # (m,) -1.0: a candidate, its guard ahead; +1.0: not
    pending: Flags  # (m,) armed again while well above zero
    clock: Array  # (3,) time, step to try next, and since when steps and crossings count [s]
    counts: Integers  # (3,) steps, crossings, and the guard at fault

    @staticmethod
    def start(x: Array, m: int, duration: float) -> Machine:
        """B of them in the states x (B, n) at time 0: each array has a leading axis B."""
        b, counts = len(x), np.zeros((len(x), 3), np.int64)
        counts[:, GUARD] = -1
        clock = np.column_stack([np.zeros(b), np.full(b, duration), np.zeros(b)])
        pending = np.zeros((b, m), bool)
        return Machine(
            x.copy(), np.zeros_like(x), np.zeros((b, m)), np.ones((b, m)), pending, clock, counts
        )

    def row(self, b: int) -> Machine:
        """One of them."""
        return Machine(*(array[b] for array in self))


class Log(NamedTuple):
    """Pieces in order; with no capacity nothing is recorded.

    ``curves`` are polynomials as of ``runge_kutta.dense_output``; that of a projection is straight.
    """

    count: Integers  # (1,)
    times: Array  # (capacity,) of the ends [s]
    starts: Array  # (capacity, n)
    curves: Array  # (capacity, DEGREE, n)
    guards: Integers  # (capacity,) crossed at the end; -1 of an integration step

    @staticmethod
    def empty(capacity: int, n: int) -> Log:
        """Room for as many pieces."""
        guards = np.zeros(capacity, np.int64)
        states, curves = np.zeros((capacity, n)), np.zeros((capacity, DEGREE, n))
        return Log(np.zeros(1, np.int64), np.zeros(capacity), states, curves, guards)

    def trim(self) -> Log:
        """The rows that are filled."""
        return Log._make((self.count, *(column[: self.count[0]] for column in self[1:])))


@kernel
def is_on_guard(m: Machine, k, limits: EssLimits):
    """Whether the state is on guard k, or beyond it."""
    return m.values[k] >= -ON * limits.epsilon[k]
